"""Hypothesis draws problems choice by choice, for every implementation and every clause.

A certificate draws a number for a problem, from the same domains; Hypothesis finds what is
simplest by itself, and so tells whether those domains let it.
"""

from random import Random

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from implementations import TARGETS, Target
from spec import CLAUSES, record
from spec.attention.notation import Problem
from spec.certification.judging.judging import scope_for
from spec.domain import Scope
from spec.exploring import problems
from spec.kinds import KINDS
from spec.trial import broken
from tests.judging import generated, valued
from tests.night import deep

FULL = settings(generated, suppress_health_check=list(HealthCheck))
FEW, STARTS = 40, 4  # numbers; tries
SMALLEST = settings(FULL, max_examples=1000, phases=(Phase.generate, Phase.shrink))
EACH = [
    pytest.param(x, id=x.name, marks=[pytest.mark.torch] if x.backend == "torch" else [])
    for x in TARGETS
]


@pytest.mark.quick(
    "implementations.einsum:attend*", "implementations.dense*", "implementations.heads*"
)
@pytest.mark.parametrize("examples", [60, deep(250)])
@pytest.mark.parametrize("target", EACH)
def test_no_clause_is_broken_whatever_hypothesis_draws(target: Target, examples: int) -> None:
    subject = record(target.name, backend=target.backend, layout=target.layout)
    clauses = valued(subject)

    @given(data=st.data())
    @settings(FULL, max_examples=examples)
    def explored(data: st.DataObject) -> None:
        clause = data.draw(st.sampled_from(clauses))
        dtype = data.draw(st.sampled_from(subject.dtypes))
        scope = scope_for(clause, subject, dtype, "strict", "quick")
        problem = data.draw(problems(clause.over, scope))
        assert broken(clause, subject, problem) is None

    explored()


@pytest.mark.quick("skips*", "tiles*")
@pytest.mark.parametrize(
    "mistake",
    [deep("leaves_scores_unscaled"), "sees_one_key_ahead", "skips_the_maximum", "tiles_key_heads"],
)
def test_hypothesis_finds_a_small_problem_that_shows_a_mistake(mistake: str) -> None:
    subject, clause = KINDS["attention"].subjects[mistake], CLAUSES["A1"]
    scope = Scope("float32", subject.answers)

    def shows(problem: Problem) -> bool:
        return broken(clause, subject, problem) is not None

    def numbers(start: int) -> int:
        p = find(problems(clause.over, scope), shows, settings=SMALLEST, random=Random(start))
        return sum(x.size for x in (p.q, p.k, p.v))

    # Where it starts from a long axis it may not find its way to a short one.
    assert any(numbers(start) <= FEW for start in range(STARTS))
