"""Who compiles is asked about many kinds of problem at once, and found to answer the same."""

import sys
from typing import Any

import pytest

from implementations.dense import attend
from spec import certify
from spec.attention.options import Capability
from spec.certification.isolation.sharing import in_two
from spec.certification.target import probing
from spec.kinds import KINDS
from spec.subject import Refused

_PLAIN = KINDS["attention"].core("float32")
CHOICES: tuple[tuple[str, ...], ...] = (
    (),
    ("mask", "window"),
    ("softcap",),
    ("causal", "sinks"),
    ("slopes", "query_segments"),
)


def _refusing(names: tuple[str, ...], asked: list[str]) -> Any:
    """Our NumPy version, which refuses problems that say all of these."""
    record = KINDS["attention"].load(attend, backend="numpy", dtypes=("float32",))

    def through(name: str, function: Any) -> Any:
        def ask(problem: Any, *rest: Any) -> Any:
            asked.append(name)
            said = [n for n in names if getattr(problem, n) is not getattr(_PLAIN, n)]
            if names and len(said) == len(names):
                raise Refused("not these together")
            return function(problem, *rest)

        return ask

    return record.through(through)


@pytest.mark.parametrize("names", CHOICES)
def test_many_kinds_at_once_tell_what_each_does(
    monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    one_by_one: list[str] = []
    at_once: list[str] = []
    monkeypatch.setattr(probing, "none", lambda: True)
    right = probing.probed(_refusing(names, one_by_one))
    monkeypatch.setattr(probing, "none", lambda: False)
    found = probing.probed(_refusing(names, at_once))

    assert found.to_json() == right.to_json()
    assert bool(found.refusals) == bool(names)
    if not names:
        assert 2 * len(at_once) < len(one_by_one)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux")
def test_two_processes_find_out_what_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """A target that compiles is probed in two, dtype by dtype; one that does not, in one."""
    shared: list[tuple[str, ...]] = []

    def each(function: Any, dtypes: Any) -> Any:
        shared.append(dtypes)
        return in_two(function, dtypes)

    def refuses_masks_in_float16() -> Any:
        record = KINDS["attention"].load(attend, backend="numpy")

        def through(_: str, function: Any) -> Any:
            def ask(problem: Any, *rest: Any) -> Any:
                if problem.dtype == "float16" and problem.mask is not None:
                    raise Refused("no masks in float16")
                return function(problem, *rest)

            return ask

        return record.through(through)

    alone = probing.probed(refuses_masks_in_float16(), each=each)
    assert shared == []
    monkeypatch.setattr(probing, "none", lambda: False)
    found = probing.probed(refuses_masks_in_float16(), each=each)
    assert shared == [("float64", "float32", "float16")]
    assert found.to_json() == alone.to_json()
    assert {refusal.dtype for refusal in found.refusals} == {"float16"}


@pytest.mark.torch
def test_three_that_torch_refuses_together_are_not_drawn_in_vain() -> None:
    """A mask and causality, where values have another width than keys; each two it takes."""
    clauses = ("A1", "C3", "M20")
    target = "torch.nn.functional:scaled_dot_product_attention"
    certificate = certify(target, profile="standard", dtypes=("float32",), clauses=clauses)
    assert certificate.passed, str(certificate)
    (refusal,) = certificate.refusals
    assert refusal.what == Capability.WIDTHS_BESIDE
    asked = {v.clause: (v.examples, v.refused) for v in certificate.verdicts}
    few = 0.25  # of them: single sizes, where one of the three does not matter, are refused too
    assert all(refused < few * examples for examples, refused in asked.values()), asked
