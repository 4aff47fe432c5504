"""A second fault inside a cause that looks like a known bug.

Inside a cause all problems are wrong, which hides a second fault there. But if the results are
those of a known bug, except on some set of problems, something else is wrong on that set. So the
known bug takes the place of the definition, and the differences from it are explained: as two known
bugs at once, if these give the target's results on all problems; else by a condition.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from spec.alike import alike
from spec.certification.diagnosing.evidence import Evidence
from spec.certification.diagnosing.experiments import in_time
from spec.certification.diagnosing.leads import Found, Lead, Row, widened
from spec.certification.diagnosing.search import RARELY, Search
from spec.certification.diagnosing.table import CLEAR, Table
from spec.certification.judging.bounds import Bounds
from spec.clause import Clause
from spec.comparison import Violation
from spec.features import ASKED
from spec.kind import Kind
from spec.kinds import kind_of
from spec.mistake import Mistake
from spec.notation import HALF, Array
from spec.trial import broken

LOOKED = 12  # problems on which every known mistake is tried
MANY = 100  # problems on which the likeliest are
LIKELIEST = 5
FEW = 5  # of them that are answered in either way; fewer may be chance
MOST = 1 / 3  # of them that are not answered as by a known mistake, which else explains too little
Failure = tuple[Clause, Violation] | None
Failures = Sequence[tuple[Failure, Any]]  # how problems fail


def found_besides(search: Search, found: Found) -> Found | None:
    """A cause inside of another, whose results are otherwise those of a known bug."""
    cause, lead, kind = found.cause, found.lead, search.kind
    several = [x for x in search.found if x.lead.word == lead.word and not x.cause.lens]
    if lead.drawn or cause.lens or not cause.problems[1] or len(several) > 1:
        return None
    if in_time(lead.problem, MANY) < LOOKED:  # to try known bugs on many keys takes minutes
        return None
    rows = _wrong_inside(search, found)
    problems = [row.problem for row in rows]
    first = _explaining(search, lead, problems[0]) if problems else []
    if _is_known(search, lead, problems[1:], first):
        return None
    failures, others = _compared(search, lead, problems, first)
    if not all(x.any() for x in others.values()):  # nothing is wrong but what one of them is
        return None
    ranked = sorted(others, key=lambda name: others[name].sum())
    name = next((x for x in ranked if _is_right_too(search, lead, x, (~others[x]).sum())), "")
    if not name or _different(failures, ~others[name]) < FEW:
        return None
    return _second(search, found, rows, others[name], kind.mistakes[name], failures)


def _is_known(search: Search, lead: Lead, problems: Sequence[Any], names: list[str]) -> bool:
    """Whether one of some known bugs fails in the same way on all problems, as for most causes.

    problems, names: all but the first, and the bugs that fail in the same way on that one.
    """
    for problem in problems if names else ():
        failure = search.evidence.failure(lead, problem)
        names = [name for name in names if _alike(search.kind, name, failure, problem)]
        if not names:
            break
    return bool(names)


def _compared(
    search: Search, lead: Lead, problems: Sequence[Any], first: Sequence[str]
) -> tuple[Failures, dict[str, Array]]:
    """How problems fail, and for each of the likeliest bugs, which of them fail differently.

    Nearly always the likeliest one is enough. Problems are the outer loop, as the error bounds of a
    problem are cached only for a short time.
    """
    names, kind = _likeliest(search, lead, problems, first), search.kind
    failures: list[tuple[Failure, Any]] = []
    other: list[list[bool]] = []  # by problem, and by name
    for problem in problems:
        failures.append((search.evidence.failure(lead, problem), problem))
        other.append([not _alike(kind, name, *failures[-1]) for name in names[:1]])
    if np.any(other):
        for known, one in zip(other, failures, strict=True):
            known += [not _alike(kind, name, *one) for name in names[1:]]
    asked = zip(names, np.array(other).T, strict=False)  # it may be the first alone
    return failures, dict(asked)


def _is_right_too(search: Search, lead: Lead, name: str, explained: int) -> bool:
    """Whether a known bug passes where the target does; otherwise the target does not have it.

    explained: how many failures it explains; a few exceptions are allowed, as two faults may
    cancel.
    """
    subject, rows = search.kind.subjects[name], search.evidence.draws(lead)
    right = [row.problem for row in rows if not row.how and row.problem.dtype in subject.dtypes]

    def breaks(problem: Any) -> bool:
        return broken(lead.clauses[0], subject, problem) is not None

    with closing(search.evidence.each(breaks, right)) as wrong:
        return sum(wrong) <= RARELY * explained


def _different(failures: Failures, which: Array) -> int:
    """The number of different failures; a problem that is tested twice counts once."""
    return len(
        {str(found[1]) for (found, _), x in zip(failures, which, strict=True) if x and found}
    )


def _second(
    search: Search,
    found: Found,
    rows: Sequence[Row],
    other: Array,
    mistake: Mistake,
    failures: Failures,
) -> Found | None:
    """The cause of the problems that fail differently from a known bug."""
    lead, another = found.lead, _at_once(search.kind, mistake, failures, other)
    ways = [partial(_declared, another)] if another else []
    ways.append(partial(_set_apart, search.evidence, rows, other))
    for features in filter(None, (way() for way in ways)):
        second = replace(found.cause, features=features, besides=mistake.line)
        where = Bounds.of(search.kind, "", [second])
        inside = [not lead.within(where, row.problem) for row in rows]
        both = [row.problem for row, x, y in zip(rows, inside, other, strict=True) if x and y]
        if both:  # what a mistake declares need not be where it shows beside another
            second = replace(second, problems=(len(both), sum(inside)))
            line = another.line if another else ""
            return Found(second, replace(lead, problem=both[0]), (*both,), line)
    return None


def _at_once(kind: Kind, mistake: Mistake, failures: Failures, other: Array) -> Mistake | None:
    """The bug that, together with another one, gives the target's results on all problems."""
    # What the one does not explain comes first: nearly every pair is done with at once.
    ordered = [failures[place] for place in np.argsort(~other, kind="stable")]
    for another in kind.mistakes.values() if other.any() else ():
        record = kind.causes.at_once((mistake, another)) if another.where else None
        if record is not None and all(_is_as(record, *one) for one in ordered):
            return another
    return None


def _declared(mistake: Mistake) -> tuple[str, ...]:
    """The conditions of the problems on which a known bug is wrong."""
    if " or " in mistake.where or "(" in mistake.where:
        return (f"({mistake.where})",)
    return tuple(x for x in mistake.where.split(" and ") if not x.endswith(ASKED))


def does_as(evidence: Evidence, lead: Lead, line: str, problem: Any) -> bool:
    """Whether a known bug breaks a clause with the same number at the same element.

    line: the line about the bug, which begins with its name.
    """
    failure = evidence.failure(lead, problem)
    return _alike(evidence.kind, line.split(" ")[0], failure, problem)


def _alike(kind: Kind, name: str, failure: Failure, problem: Any) -> bool:
    """Whether a known bug fails in the same way, in any rounding model."""
    return any(_is_as(record, failure, problem) for record in kind.records(name))


def _is_as(record: Any, failure: Failure, problem: Any) -> bool:
    return failure is not None and alike(failure[1], failure[0], record, problem)


def _wrong_inside(search: Search, found: Found) -> list[Row]:
    """Problems that fail for one cause alone, as its first failure does; drawn ones first.

    In 16 bits nothing bounds how a wrong number is rounded, so other formats decide if there are
    any.
    """
    lead, alone = found.lead, Bounds.of(search.kind, "", [found.cause])
    others = Bounds.of(search.kind, "", [x.cause for x in search.found if x is not found])
    made = (row for row in search.rows if row.asked == lead.key)
    wrong = (row for row in (*search.evidence.draws(lead), *made) if row.how == lead.how)
    inside = (row for row in wrong if not lead.within(alone, row.problem))
    rows = [row for row in inside if lead.within(others, row.problem)]
    wide = [row for row in rows if row.problem.dtype not in HALF]
    return widened((wide or rows)[:MANY], search.evidence.features)


def _likeliest(
    search: Search, lead: Lead, problems: Sequence[Any], first: Sequence[str]
) -> list[str]:
    """The known bugs that give most of the wrong results, on a few problems.

    first: those that do on the first problem.
    """
    _, *few = problems[:: 1 + len(problems) // LOOKED] or [None]
    with closing(search.evidence.each(partial(_explaining, search, lead), few)) as found:
        count = Counter(name for names in (first, *found) for name in names)
    ranked = sorted(search.kind.mistakes, key=lambda name: -count[name])[:LIKELIEST]
    return [name for name in ranked if count[name] > 1]


def _explaining(search: Search, lead: Lead, problem: Any) -> list[str]:
    """The known bugs that fail on a problem as the target does."""
    kind, failure = search.kind, search.evidence.failure(lead, problem)
    there = (name for name, where in _wheres(kind.about).items() if lead.within(where, problem))
    return [name for name in there if _alike(kind, name, failure, problem)]


@cache
def _wheres(about: str) -> Mapping[str, Bounds]:
    """The problems on which each known bug of a kind is wrong, by its name."""
    kind = kind_of(about)
    return {name: Bounds.of(kind, mistake.where) for name, mistake in kind.mistakes.items()}


def _set_apart(evidence: Evidence, rows: Sequence[Row], other: Array) -> tuple[str, ...]:
    """The condition of the problems that fail differently from a known bug; empty if none fits.

    Nearly all problems inside have to fail differently, and nearly none outside.
    """
    if other.sum() < FEW or other.mean() > MOST:
        return ()
    said, weight = np.array([row.said for row in rows]), np.array([row.weight for row in rows])
    table = Table(said, other, weight, rows, evidence.prices)
    split = table.best(np.asarray(said.any(axis=0)))
    outside = ~table.inside(split)
    clear = table.share(split) > CLEAR and other[outside].sum() < (1 - CLEAR) * outside.sum()
    return evidence.named(split.columns) if clear else ()
