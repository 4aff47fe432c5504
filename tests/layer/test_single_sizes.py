"""A fault of a layer at a single length, width or number of heads has nowhere to hide."""

from typing import get_args

import pytest

from spec import CLAUSES, certify
from spec.certification.judging.drawing import series
from spec.domain import Scope
from spec.layer.domain import EACH, MOST
from spec.layer.notation import Turn
from spec.layer.record import KINDS
from tests.judging import EXAMPLES

CLAUSE = CLAUSES["L48"]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_standard_profile_meets_every_size(dtype: str) -> None:
    for seed in range(2):
        problems = series(CLAUSE, Scope(dtype, KINDS), EXAMPLES * CLAUSE.effort, seed)
        assert not {*EACH} - {(axis, getattr(p, axis)) for p in problems for axis in MOST}


@pytest.mark.parametrize("turn", get_args(Turn))
def test_what_is_turned_comes_in_pairs(turn: str) -> None:
    scope = Scope("float32", KINDS, conventions={"positions": turn})
    assert not any(p.D % 2 for p in series(CLAUSE, scope, 40, 0) if p.turn != "none")


@pytest.mark.deep
def test_a_single_length_is_told() -> None:
    target = "spec.layer.mistakes.single_sizes:loses_a_token_at_one_length"
    certificate = certify(target, clauses=("L1", "L48"), dtypes=("float32",))
    (cause,) = certificate.causes
    assert cause.sentence == "where M = 53, the output is wrong"
    assert certificate.region.passed
