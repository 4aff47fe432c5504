"""How the tests draw from a domain: as a judge does, and at night as Hypothesis does."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from spec import CLAUSES
from spec.attention.domain import Problems
from spec.attention.notation import Problem
from spec.certification.judging.drawing import series
from spec.domain import Scope
from spec.exploring import problems
from tests.night import deep

Draws = Callable[[Problems, Scope, int], list[Problem]]
QUIET = settings(
    max_examples=200,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


def drawn(domain: Problems, scope: Scope, count: int) -> list[Problem]:
    """The first problems of a domain, always the same ones, however this is written."""
    seen: list[Problem] = []

    @seed(0)
    @settings(QUIET, max_examples=count)
    @given(problems(domain, scope))
    def collect(problem: Problem) -> None:
        seen.append(problem)

    collect()
    return seen


def judged(domain: Problems, scope: Scope, count: int) -> list[Problem]:
    """Problems as a judge draws them, where each choice is as likely as the others."""
    return [*series(replace(CLAUSES["A1"], over=domain), scope, count, 0)]


# What a judge draws costs a tenth of what Hypothesis does, and has met everything sooner.
EITHER_WAY = pytest.mark.parametrize("draw", [judged, deep(drawn)])
