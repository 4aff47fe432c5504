"""What is wrong besides a known mistake: a second fault where a first one is nearly everywhere.

Problems that are wrong anyway say nothing of a set inside of theirs. But where the answers are
those of a known mistake, except on some set of problems, something else is wrong on that set. So
the known mistake takes the place of the definition, and what departs from both is separated.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spec.certification.diagnosing.evidence import Evidence
from spec.certification.diagnosing.leads import Lead, Row
from spec.certification.diagnosing.search import CLEAR, Found, Search
from spec.certification.diagnosing.separating import Split
from spec.certification.diagnosing.table import Table
from spec.certification.judging.bounds import Bounds
from spec.clause import Clause
from spec.comparison import Violation
from spec.kind import Kind, alike
from spec.notation import Array

LOOKED = 12  # problems on which every known mistake is tried
MANY = 100  # problems on which the likeliest are
LIKELIEST = 5
FEW = 5  # of them that are answered in either way; fewer may be chance
Failure = tuple[Clause, Violation] | None


def found_besides(search: Search, found: Found) -> Found | None:
    """A cause inside of another, whose answers are otherwise those of a known mistake."""
    cause, lead, kind = found.cause, found.lead, search.kind
    several = [x for x in search.found if x.lead.word == lead.word and not x.cause.lens]
    if lead.drawn or cause.lens or not cause.problems[1] or len(several) > 1:
        return None
    rows = _wrong_inside(search, found)
    problems = [row.problem for row in rows]
    failures = [search.evidence.failure(lead, problem) for problem in problems]
    others = {
        name: np.array([not _alike(kind, name, *x) for x in zip(failures, problems, strict=True)])
        for name in _likeliest(search, lead, problems, failures)
    }
    name = min(others, key=lambda name: others[name].sum(), default="")
    if not name or others[name].sum() < FEW or (~others[name]).sum() < FEW:
        return None
    split, table = _split(search.evidence, rows, others[name])
    if not split.columns:
        return None
    inside = table.inside(split)
    both = [row.problem for row, x in zip(rows, inside & table.wrong, strict=True) if x]
    second = replace(
        cause,
        features=tuple(search.evidence.names[i] for i in split.columns),
        problems=(len(both), int(inside.sum())),
        besides=kind.mistakes[name].line,
    )
    return Found(second, replace(lead, problem=both[0]), (*both,))


def does_as(evidence: Evidence, lead: Lead, line: str, problem: Any) -> bool:
    """Whether a known mistake breaks a clause by the same number at the same place.

    line: what is said of it; its name comes first.
    """
    failure = evidence.failure(lead, problem)
    return _alike(evidence.kind, line.split(" ")[0], failure, problem)


def _alike(kind: Kind, name: str, failure: Failure, problem: Any) -> bool:
    return failure is not None and alike(failure[1], failure[0], kind.subjects[name], problem)


def _wrong_inside(search: Search, found: Found) -> list[Row]:
    """What is wrong for one cause alone, as its first failure is, what was drawn coming first."""
    lead, alone = found.lead, Bounds.of(search.kind, "", [found.cause])
    others = Bounds.of(search.kind, "", [x.cause for x in search.found if x is not found])
    made = (row for row in search.rows if row.asked == lead.key)
    wrong = (row for row in (*search.evidence.draws(lead), *made) if row.how == lead.how)
    inside = (row for row in wrong if not lead.within(alone, row.problem))
    return [row for row in inside if lead.within(others, row.problem)][:MANY]


def _likeliest(
    search: Search, lead: Lead, problems: Sequence[Any], failures: Sequence[Failure]
) -> list[str]:
    """The known mistakes that have the most of the wrong answers, of a few."""
    kind, step = search.kind, 1 + len(problems) // LOOKED
    few = [*zip(failures, problems, strict=True)][::step]
    count = {}
    for name, mistake in kind.mistakes.items():
        where = Bounds.of(kind, mistake.where)
        inside = (one for one in few if lead.within(where, one[1]))
        count[name] = sum(_alike(kind, name, *one) for one in inside)
    ranked = sorted(count, key=lambda name: -count[name])[:LIKELIEST]
    return [name for name in ranked if count[name] > 1]


def _split(evidence: Evidence, rows: Sequence[Row], other: Array) -> tuple[Split, Table]:
    """The set of those answered in another way than by a known mistake; nothing, if there is none.

    Nearly all inside are, and nearly none outside.
    """
    said, weight = np.array([row.said for row in rows]), np.array([row.weight for row in rows])
    table = Table(said, other, weight, rows)
    split = table.best(evidence.prices, np.asarray(said.any(axis=0)))
    outside = ~table.inside(split)
    clear = table.share(split) > CLEAR and other[outside].mean() < 1 - CLEAR
    return (split if split.columns and clear else Split((), 0.0)), table
