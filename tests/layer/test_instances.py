"""Layers that are built already: put problems of their sizes, in copies, or told why not."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from implementations.multihead import MultiHead
from spec import about, certify
from spec.backends import Unsuitable
from spec.domain import Scope
from spec.layer import moves
from spec.layer.plug import layer
from spec.layer.plug.instances import is_layer, sizes_of
from spec.layer.plug.trials import apart, core
from spec.layer.record import KINDS, Capability
from spec.subject import Refused
from spec.trial import broken
from tests.attention.draws import drawn
from tests.shell import FEW, run

L1 = about("layer")["L1"]
NOTE = "an instance: only problems with embed_dim=16, num_heads=4 are tested"


class Sized(MultiHead):
    """A layer that says its sizes."""

    def __init__(self, embed_dim: int, num_heads: int, **options: Any) -> None:
        super().__init__(embed_dim, num_heads, **options)
        self.embed_dim, self.num_heads = embed_dim, num_heads


class Unscaled(Sized):
    def __call__(self, query: Any, *rest: Any, **options: Any) -> Any:
        return super().__call__(3 * query, *rest, **options)


BUILT = Sized(16, 4)
WRONG = Unscaled(16, 4)


@pytest.mark.slow
def test_an_instance_is_certified_and_its_sizes_are_said() -> None:
    before = {name: x.copy() for name, x in BUILT.state_dict().items()}
    done = run("certify", "tests.layer.test_instances:BUILT", *FEW)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"\nnote          {NOTE}\n" in done.stdout
    assert "clauses       49 of 51 apply" in done.stdout

    assert certify(BUILT, profile="quick", dtypes=["float32"], clauses=["L1", "L3"]).passed
    assert all((BUILT.state_dict()[name] == x).all() for name, x in before.items())


@pytest.mark.slow
def test_a_wrong_instance_is_refused_with_a_problem_of_its_sizes() -> None:
    settled = {"profile": "quick", "dtypes": ["float32"], "clauses": ["L1"]}
    certificate = certify("tests.layer.test_instances:WRONG", **settled)  # type: ignore[arg-type]
    (cause,) = certificate.causes
    assert cause.counterexample is not None
    problem = cause.counterexample.problem
    assert (problem.A, problem.H) == (16, 4)
    assert NOTE in certificate.notes
    quickly = certify(WRONG, fail_fast=True, **settled).failures[0].counterexample  # type: ignore[arg-type]
    assert quickly is not None
    assert (quickly.problem.A, quickly.problem.H) == (16, 4)


@pytest.mark.torch
def test_an_instance_of_torch_is_built_for_what_is_judged() -> None:
    from torch.nn import MultiheadAttention

    without = layer(MultiheadAttention(6, 3, bias=False, batch_first=True))
    assert Capability.UNBIASED in without.answers
    assert not {Capability.QUERY_BIAS, Capability.OUTPUT_BIAS, Capability.WIDTHS} & without.answers
    biased = layer(MultiheadAttention(6, 3, batch_first=True))
    assert Capability.QUERY_BIAS in biased.answers
    assert Capability.UNBIASED not in biased.answers
    assert broken(L1, biased, core("float32")) is None
    with pytest.raises(Unsuitable, match="build it with batch_first=True"):
        layer(MultiheadAttention(6, 3))


def test_an_object_of_no_sizes_is_told_what_to_do(tmp_path: Path) -> None:
    text = "class Mine:\n    def forward(self, x):\n        return x\n    __call__ = forward\n"
    (tmp_path / "mine.py").write_text(f"{text}\nlayer = Mine()\n")
    done = run("certify", "mine.py:layer", "--kind", "layer", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: Mine is an object that does not say its sizes: give it attributes embed_dim and "
        "num_heads, or name the class Mine\n"
    )


def test_what_is_a_layer_is_told_by_its_sizes() -> None:
    assert is_layer(Sized)
    assert sizes_of(BUILT) == {"embed_dim": 16, "num_heads": 4}
    odd = deepcopy(BUILT)
    odd.num_heads = 3
    assert not any(map(is_layer, (odd, np.sum, len, test_what_is_a_layer_is_told_by_its_sizes)))
    with pytest.raises(Refused, match="it is built with embed_dim=16, num_heads=4"):
        layer(BUILT).forward(core("float32"))


@pytest.mark.parametrize(("A", "H"), [(16, 4), (4, 1), (6, 3), (20, 5)])
def test_problems_are_brought_to_a_size_and_drawn_in_it(A: int, H: int) -> None:
    masked = apart("float64").but(mask=np.zeros((6, 4, 5), dtype=bool))
    problem = moves.sized(masked, A, H)
    assert (problem.A, problem.H, problem.parameters.W_o.shape) == (A, H, (A, A))
    assert problem.mask is not None
    assert problem.mask.shape == (2 * H, 4, 5)

    answers = KINDS - {Capability.WIDTHS, Capability.GROUPS}
    found = drawn(L1.over, Scope("float32", answers, multiples={"A": A, "H": H}), 20)
    assert {(one.A, one.H) for one in found} == {(A, H)}
