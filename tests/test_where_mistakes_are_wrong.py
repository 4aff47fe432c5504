"""Every mistake declares where it is wrong, and that is so: right outside of it, wrong inside.

Judged by the clauses that name it, and by those that hold its answers to the definition's. Inside,
at least a third of the problems that they draw are answered wrong, so that nothing is declared
which is much too wide.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from spec import about
from spec.certification.diagnosing.table import calls
from spec.certification.judging.bounds import Bounds, group
from spec.certification.judging.drawing import series
from spec.certification.judging.judging import judged, scope_for
from spec.clause import Clause
from spec.kind import Kind
from spec.kinds import KINDS
from spec.mistake import Mistake
from spec.trial import broken
from tests.judging import EXAMPLES, QUICK

DRAWN = 40  # problems, of which those inside are looked at; three times as many if need be
FEW = 10  # problems that tell which clause is looked at first
WRONG = 1 / 3  # of what lies inside, at least
DECLARED = [
    pytest.param(kind, mistake, id=f"{about}-{name}")
    for about, kind in KINDS.items()
    for name, mistake in kind.mistakes.items()
    if mistake.where
]


def judges(kind: Kind, mistake: Mistake) -> Iterator[tuple[Clause, str]]:
    """The clauses that say whether a mistake shows, with each format that it shows in."""
    subject = kind.subjects[mistake.name]
    compared = {number for numbers in kind.compares.values() for number in numbers}
    for clause in about(kind.about).values():
        if clause.binds(subject) and (mistake.name in clause.catches or clause.number in compared):
            yield from ((clause, dtype) for dtype in mistake.dtypes)


def is_right_outside(kind: Kind, mistake: Mistake, examples: int, seed: int) -> None:
    subject = kind.subjects[mistake.name]
    bounds = Bounds.of(kind, f"not ({mistake.where})")
    for clause, dtype in judges(kind, mistake):
        scope = scope_for(clause, subject, dtype, "strict", "standard")
        finding = judged(clause, bounds.over(subject), scope, examples=examples, seed=seed)
        assert finding.violation is None, (clause.number, finding.problem)


def shares(kind: Kind, mistake: Mistake) -> Iterator[float]:
    """How much is wrong of the problems inside, clause by clause: the likeliest ones first."""

    def share(judge: tuple[Clause, str], count: int) -> float:
        clause, subject = judge[0], kind.subjects[mistake.name]
        asked = inside(kind, mistake, *judge, count)
        wrong = [broken(clause, subject, problem) is not None for problem in asked]
        return float(np.mean(wrong)) if asked else 0.0

    found = [*judges(kind, mistake)]
    yield from (share(judge, DRAWN) for judge in found if share(judge, FEW) >= WRONG)
    # A size that comes in turn comes once.
    yield from (share(judge, max(3 * DRAWN, EXAMPLES * judge[0].effort)) for judge in found)


def inside(kind: Kind, mistake: Mistake, clause: Clause, dtype: str, count: int) -> list[Any]:
    """Of so many problems that a clause draws, those about which it asks something inside."""
    subject, bounds = kind.subjects[mistake.name], Bounds.of(kind, mistake.where)
    scope = scope_for(clause, subject, dtype, "strict", "standard")

    def asks(problem: Any) -> bool:
        put = calls(clause, subject, problem)
        return any(bounds.has(x, group(kind, name)) for name, x in put)

    return [problem for problem in series(clause, scope, count, 0) if asks(problem)]


@pytest.mark.parametrize(("kind", "mistake"), DECLARED)
def test_a_mistake_is_wrong_where_it_says(kind: Kind, mistake: Mistake) -> None:
    with np.errstate(all="ignore"):
        is_right_outside(kind, mistake, QUICK, seed=0)
        assert any(share >= WRONG for share in shares(kind, mistake))


@pytest.mark.deep
@pytest.mark.parametrize(("kind", "mistake"), DECLARED)
def test_a_mistake_is_right_elsewhere_for_any_seed(kind: Kind, mistake: Mistake) -> None:
    with np.errstate(all="ignore"):
        for seed in range(1, 4):
            is_right_outside(kind, mistake, EXAMPLES, seed)
