"""What comes back through the log-sum-exp is judged where it can, and of nobody else."""

import inspect
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from implementations import dense, kvcache, packed
from spec import certify
from spec.attention import definition, rounding
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.plug import implementation
from spec.attention.plug.conventions import under
from spec.attention.plug.trials import square
from spec.comparison import equal
from spec.entries import eighths
from spec.notation import Array
from spec.subject import Refused
from tests.night import deep
from tests.shell import script_here

LSE = ("S16", "S17", "S18", "S19", "S20", "S21", "S22")

FUSED = '''
import torch


class Fused(torch.autograd.Function):
    """Its backward pass knows one cotangent."""

    @staticmethod
    def forward(ctx, q, k, v):
        s = q @ k.mT / q.shape[-1] ** 0.5
        a = s.softmax(-1)
        ctx.save_for_backward(q, k, v, a)
        return a @ v, s.logsumexp(-1)

    @staticmethod
    def backward(ctx, dout, dlse):
        q, k, v, a = ctx.saved_tensors
        da = dout @ v.mT
        ds = a * (da - (a * da).sum(-1, keepdim=True) + dlse[..., None] * KNOWN)
        ds = ds / q.shape[-1] ** 0.5
        return ds @ k, ds.mT @ q, a.mT @ dout


def attend(query, key, value, return_lse=False):
    both = Fused.apply(query, key, value)
    return both if return_lse else both[0]
'''


def outcomes(target: Callable[..., Any], **options: Any) -> dict[str, str]:
    few = {"profile": "quick", "dtypes": ("float32",), "clauses": LSE}
    found = certify(target, **{**few, **options})
    return {v.clause: v.outcome for v in found.verdicts if v.clause in LSE}


def taught(problem: Problem) -> Problem:
    return problem.but(dlse=2 * eighths(*problem.dout.shape[:3]))


def without(dout: Array, query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """A backward pass that is told of no cotangent but dout."""
    return dense.backward(dout, query, key, value)


def alone(query: Array, key: Array, value: Array) -> Array:
    return dense.attend(query, key, value)


def test_who_is_told_of_one_cotangent_is_asked_of_no_other() -> None:
    record = implementation(alone, backend="numpy", backward=without)
    assert Capability.GRADIENTS in record.offers
    assert Capability.LSE_GRADIENT not in record.offers
    problem = taught(square("float64"))
    with pytest.raises(Refused, match="no parameter for a cotangent of the log-sum-exp"):
        record.backward(problem)
    full = implementation(dense.attend)
    want, budget = rounding.reference(problem).gradients, rounding.of_gradients(problem)
    equal(full.lse_backward(problem).q, want.q, within=budget.q)


def test_keys_in_caches_are_not_asked() -> None:
    record = implementation(kvcache.attend)
    assert Capability.LSE in record.offers
    assert Capability.LSE_GRADIENT not in record.offers


@pytest.mark.slow
def test_packed_texts_have_one_in_the_axes_of_their_log_sum_exp() -> None:
    """(H, tokens): who takes that of the token before is wrong."""
    right = {x for x in LSE if x != "S21"}  # which hides keys by a mask
    assert {x for x, y in outcomes(packed.attend).items() if y == "holds"} == right

    def back(*arrays: Array, dlse: Array | None = None, **options: Any) -> Any:
        late = None if dlse is None else np.roll(dlse, 1, axis=-1)
        return backward(*arrays, dlse=late, **options)

    backward = vars(packed.attend)["backward"]
    vars(back)["__signature__"] = inspect.signature(backward)
    wrong = partial(packed.attend)
    vars(wrong)["backward"] = back
    assert outcomes(wrong, clauses="S16", fail_fast=True)["S16"] == "violated"


def test_a_log_sum_exp_of_another_unit_has_another_cotangent() -> None:
    record = implementation(dense.attend)
    for choice in ({"lse-base": "2"}, {"lse-sink": "without"}):
        assert Capability.LSE_GRADIENT not in under(record, choice).offers
    for choice in (
        {"fully-masked-lse": "+inf"},
        {"fully-masked": "nan"},
        {"fully-masked": "uniform"},
    ):
        assert Capability.LSE_GRADIENT in under(record, choice).offers


def test_a_cotangent_has_the_axes_of_a_log_sum_exp_in_every_layout() -> None:
    """Here sequences and heads are one axis."""

    def folded(query: Array, key: Array, value: Array) -> Array:
        return dense.attend(query[None], key[None], value[None])[0]

    def back(
        dout: Array, query: Array, key: Array, value: Array, dlse: Array | None = None
    ) -> list[Array]:
        more = None if dlse is None else dlse[None]
        found = dense.backward(*(x[None] for x in (dout, query, key, value)), dlse=more)
        return [x[0] for x in found]

    vars(folded)["backward"] = back
    found = outcomes(folded, backend="numpy", layout="hld")
    assert {x for x in LSE if found[x] == "holds"} == {"S16", "S17", "S18", "S19", "S20"}


@pytest.mark.torch
def test_a_constant_log_sum_exp_has_no_gradient_to_judge() -> None:
    """flash-attn's is one; a fault is what says that it has a gradient, and has another."""
    import torch

    def detaches(query: Any, key: Any, value: Any, return_lse: bool = False) -> Any:
        s = query @ key.mT / query.shape[-1] ** 0.5
        return (
            (s.softmax(-1) @ value, s.logsumexp(-1).detach())
            if return_lse
            else (s.softmax(-1) @ value)
        )

    def reads(query: Any, key: Any, value: Any, return_lse: bool = False) -> Any:
        s = query @ key.mT / query.shape[-1] ** 0.5
        o = s.softmax(-1) @ value
        return (o, torch.logsumexp(s, -1)) if return_lse else o

    told = {"backend": "torch"}
    assert {*outcomes(detaches, **told).values()} == {"not offered"}
    found = outcomes(reads, **told)
    assert [found[x] for x in LSE[:5]] == ["holds"] * 5
    assert [found[x] for x in LSE[5:]] == ["not offered"] * 2  # without masks and sinks


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("clauses", ["A1,S16", deep("A1,A2,S")])
def test_a_kernel_that_forgets_it_is_told_so_and_shown_by_a_script(
    clauses: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which ends well once the kernel is mended; and that one is certified."""
    mine, mended, script = (tmp_path / f"{x}.py" for x in ("mine", "mended", "script"))
    asked: dict[str, Any] = {"profile": "quick", "dtypes": ("float32",), "clauses": clauses}
    mine.write_text(FUSED.replace("KNOWN", "0"))
    refused = certify(f"{mine}:attend", **asked)
    (cause,) = refused.causes
    assert cause.sentence == "where a cotangent of the log-sum-exp, gradients are wrong"
    assert cause.counterexample is not None
    text = cause.counterexample.script
    call = "attend(query, key, value, return_lse=True)[:2]"
    assert f"{call}, [query, key, value], (dout, dout_2)" in text
    script.write_text(text)
    assert ended(script, monkeypatch) == 1
    mine.write_text(FUSED.replace("KNOWN", "1"))
    assert ended(script, monkeypatch) == 0
    mended.write_text(mine.read_text())
    assert certify(f"{mended}:attend", **asked).passed


def ended(script: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """How a script ends in this process, which has torch, and reads the kernel afresh."""
    with monkeypatch.context() as alone:
        alone.setattr(sys, "dont_write_bytecode", True)  # of a file that changes within a second
        alone.setattr(sys, "path", [*sys.path])
        alone.delitem(sys.modules, "mine", raising=False)
        return script_here(script.read_text()).returncode


@pytest.mark.torch
def test_a_mean_is_no_log_sum_exp_to_teach() -> None:
    """Where an idle query has a mean, its cotangent is left out, as its log-sum-exp is."""
    import torch

    def fills(query: Any, key: Any, value: Any, attn_mask: Any = None, return_lse: Any = False):  # type: ignore[no-untyped-def]
        s = query @ key.mT / query.shape[-1] ** 0.5
        s = s if attn_mask is None else s.masked_fill(~attn_mask, -1e9)
        o = s.softmax(-1) @ value
        return (o, torch.logsumexp(s, -1)) if return_lse else o

    mask = np.ones((3, 4), dtype=bool)
    mask[1] = False
    problem = taught(square("float64", N=3).but(mask=mask))
    raw = implementation(fills, backend="torch")
    record = under(raw, {"fully-masked": "uniform"})
    found, want = record.lse_backward(problem), definition.gradients(problem)
    equal(found.k, want.k, within=rounding.of_gradients(problem).k)
    equal(found.q, want.q, within=rounding.of_gradients(problem).q)
