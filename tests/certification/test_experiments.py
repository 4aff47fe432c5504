"""What an experiment makes of a problem is a problem still: who is right answers it rightly."""

import math
from itertools import product
from typing import cast

import pytest

from implementations.multihead import MultiHead
from spec import CLAUSES, about
from spec.attention.plug.trials import core
from spec.certification.diagnosing.experiments import MOST, changed
from spec.certification.judging.drawing import series
from spec.domain import Scope
from spec.kinds import KINDS
from spec.layer.domain import LayerProblems
from spec.layer.notation import Arrays
from spec.layer.plug import layer
from spec.trial import broken
from tests.attention.test_domain import drawn

KIND = KINDS["layer"]
FORMATS, LENGTHS = ("float64", "float32"), (1, 2, 4, 7)


@pytest.mark.parametrize("arrays", [1, 2, 3])
def test_inputs_that_are_one_array_stay_one(arrays: int) -> None:
    right = layer(MultiHead, backend="numpy")
    hiding = ("none", "padding", "causal", "mask")
    domain = LayerProblems(hiding=hiding, arrays=(cast(Arrays, arrays),), own_widths=False)
    scope = Scope(dtype="float64", answers=right.answers, reach="small")
    for problem in drawn(domain, scope, 6):
        every = changed(KIND.causes.twists, problem, FORMATS, LENGTHS)
        made = [x for x in every if {getattr(x, n).shape[2] for n in x.given} == {problem.A}]
        assert {x.arrays for x in made} >= {arrays}
        assert {x.N for x in made} > {problem.N}
        for other in made:
            assert len({id(getattr(other, name)) for name in other.distinct}) == other.arrays
            assert broken(CLAUSES["L1"], right, other) is None


@pytest.mark.parametrize("kind", KINDS)
def test_an_axis_is_as_long_as_its_arrays_are(kind: str) -> None:
    clause = next(iter(about(kind).values()))
    problems = [*series(clause, Scope(dtype="float64", reach="small"), 6, 0)]
    for problem, letter in product(problems, problems[0].letters):
        along = problem.having(letter).items()
        sizes = {getattr(problem, name).shape[axis] for name, axis in along}
        assert sizes <= {problem.length(letter)}


def test_no_experiment_is_far_larger_than_the_problem() -> None:
    """As many keys as there are queries would be 12 million scores, and gigabytes of budgets."""
    long = core("float32", B=1, H=21, G=3, N=769, M=4, D=16, E=4)
    volumes = [
        math.prod(getattr(x, letter) for letter in x.letters)
        for x in changed(KINDS["attention"].causes.twists, long, ("float32",), LENGTHS)
    ]
    assert len(volumes) > 50
    assert max(volumes) <= MOST
