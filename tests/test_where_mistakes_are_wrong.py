"""Every mistake declares where it is wrong, and that is so: right outside of it, wrong inside.

Judged by the clauses that name it, and by those that hold its answers to the definition's. Inside,
at least a third of the problems that they draw are answered wrong, so that nothing is declared
which is much too wide. By default this is tested of a few of the mistakes, which their
names choose, and in `deep` of all of them.
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest

from spec import about
from spec.certification.diagnosing.table import calls
from spec.certification.judging.bounds import Bounds
from spec.certification.judging.drawing import series
from spec.certification.judging.judging import judged, scope_for
from spec.clause import Clause
from spec.kind import Kind
from spec.kinds import KINDS
from spec.mistake import Mistake
from spec.stream import seed_of
from spec.trial import broken
from tests.judging import EXAMPLES, QUICK
from tests.night import usual

DRAWN = 40  # problems, of which those inside are looked at; three times as many if need be
FEW = 10  # problems that tell which clause is looked at first
WRONG = 1 / 3  # of what lies inside, at least
DECLARED = [
    pytest.param(kind, mistake, id=f"{about}-{name}")
    for about, kind in KINDS.items()
    for name, mistake in kind.mistakes.items()
    if mistake.where
]
SOME = usual(DECLARED, lambda kind, mistake: seed_of(f"{kind.about}-{mistake.name}") % 32 == 0)


def judges(kind: Kind, mistake: Mistake) -> Iterator[tuple[Clause, str]]:
    """The clauses that say whether a mistake shows, with each format that it shows in."""
    subject = kind.subjects[mistake.name]
    compared = kind.functions.comparing
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
    found = [*judges(kind, mistake)]
    known: list[list[bool | None]] = [[] for _ in found]
    more = [outcomes(kind, mistake, *judge) for judge in found]

    def share(place: int, count: int) -> float:
        known[place].extend(islice(more[place], count - len(known[place])))
        wrong = [x for x in known[place][:count] if x is not None]
        return float(np.mean(wrong)) if wrong else 0.0

    places = range(len(found))
    yield from (share(place, DRAWN) for place in places if share(place, FEW) >= WRONG)
    yield from (share(place, most(found[place][0])) for place in places)


def most(clause: Clause) -> int:
    """How many problems are drawn for a clause; a size that comes in turn comes once."""
    return max(3 * DRAWN, EXAMPLES * clause.effort)


def outcomes(kind: Kind, mistake: Mistake, clause: Clause, dtype: str) -> Iterator[bool | None]:
    """Whether the problems that a clause draws are wrong; None: it asks nothing inside."""
    subject, bounds = kind.subjects[mistake.name], Bounds.of(kind, mistake.where)
    scope = scope_for(clause, subject, dtype, "strict", "standard")
    for problem in series(clause, scope, most(clause), 0):
        put = calls(clause, subject, problem)
        inside = any(bounds.has(x, kind.functions.group(name)) for name, x in put)
        yield broken(clause, subject, problem) is not None if inside else None


@pytest.mark.parametrize(("kind", "mistake"), SOME)
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
