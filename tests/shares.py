"""How much is wrong inside of a cause, on fresh problems."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from spec import CLAUSES
from spec.certification.diagnosing.evidence import Evidence
from spec.certification.diagnosing.leads import DEPENDS, GOES, Lead
from spec.certification.diagnosing.table import calls
from spec.certification.judging.bounds import Bounds
from spec.certification.judging.cause import Cause
from spec.certification.judging.drawing import series
from spec.certification.judging.examiner import Examiner
from spec.certification.ledger.certificate import Certificate
from spec.certification.profiles import PROFILES
from spec.certification.settings import Request
from spec.clause import Clause
from spec.kind import Kind
from spec.trial import broken

Test = Callable[[Any], bool]

FRESH = 77  # the first seed of fresh problems
OTHERS = 20  # seeds for a share: the problems of one have a few shapes
LOOKED = 200  # problems drawn of each, until enough lie inside
ENOUGH, SOME = 20, 5  # of those held to the definition, and of each other clause
FEW = 20  # fewer of these tell no share
THIRD = 1 / 3  # of fresh problems inside of a cause is wrong, at least
IN_TIME = (" after ", DEPENDS, GOES)  # what no problem shows by itself


def compared(kind: Kind, cause: Cause) -> tuple[Clause, ...]:
    """Who holds the answers that a cause is about to the definition, one by one."""
    compares = kind.functions.compares.items()
    alike = (x for name, x in compares if kind.functions.group(name) == cause.asked)
    numbers = next((x for x in alike if {*x} & {*cause.clauses}), ())
    return tuple(CLAUSES[number] for number in numbers)


def wrong_inside(kind: Kind, target: Any, certificate: Certificate) -> Iterator[float]:
    """The share of what is wrong on problems of other seeds, for each cause with enough of them.

    Of causes by themselves: neither those that no wrong answer shows, nor those within another.
    Where the definition sees less than a third, a clause of the cause may see it outside of all
    others: what is off by few last bits is seen by those that ask for it where it is large.
    """
    reach = PROFILES[certificate.profile].name
    examiner = Examiner.of(target, Request(target="", kind=kind.about, profile=reach))
    subjects, bounds = examiner.probed.by_dtype, Bounds.of(kind, "")
    evidence = Evidence(kind, subjects, {}, bounds, LOOKED, reach)
    for cause in certificate.causes:
        if cause.drawn or cause.besides or any(words in cause.failure for words in IN_TIME):
            continue
        others = [x for x in certificate.causes if x is not cause]
        part = share_compared(evidence, cause, compared(kind, cause))
        for number in cause.clauses:
            if part < THIRD:
                part = max(part, share_broken(evidence, cause, others, CLAUSES[number]))
        if part >= 0:
            yield part


def share(wrong: Sequence[bool]) -> float:
    """Of all; less than none, if that is too few to say."""
    return sum(wrong) / len(wrong) if len(wrong) >= FEW else -1.0


def fresh(
    evidence: Evidence, clause: Clause, dtypes: Iterable[str], takes: Test, most: int
) -> Iterator[Any]:
    """Problems of a clause that a test takes, so many of each format and of each other seed."""
    for dtype in {*dtypes} & {*evidence.subjects}:
        if clause.binds(evidence.subjects[dtype]):
            for seed in range(FRESH, FRESH + OTHERS):
                drawn = series(clause, evidence.scope(clause, dtype), LOOKED, seed)
                yield from islice(filter(takes, drawn), most)


def share_compared(evidence: Evidence, cause: Cause, clauses: Sequence[Clause]) -> float:
    """Of the answers inside of a cause, how many are not as the definition has them."""
    alone = Bounds.of(evidence.kind, "", [cause])
    lead = Lead((*clauses,), cause.asked, False, None, "")

    def inside(problem: Any) -> bool:
        return not lead.within(alone, problem)

    found = [x for one in clauses for x in fresh(evidence, one, cause.dtypes, inside, ENOUGH)]
    return share([bool(row.how) for row in evidence.rows(lead, found)])


def share_broken(
    evidence: Evidence, cause: Cause, others: Sequence[Cause], clause: Clause
) -> float:
    """Of the problems for which a clause asks something inside of a cause, how many break it.

    And nothing inside of others.
    """
    kind, subjects = evidence.kind, evidence.subjects
    alone, rest = Bounds.of(kind, "", [cause]), Bounds.of(kind, "", others)

    def asks(problem: Any) -> bool:
        every = calls(clause, subjects[problem.dtype], problem)
        made = [(put, kind.functions.group(x)) for x, put in every]
        inside = any(not alone.has(*one) for one in made)
        return inside and all(rest.has(*one) for one in made)

    found = fresh(evidence, clause, cause.dtypes, asks, SOME)
    return share([broken(clause, subjects[x.dtype], x) is not None for x in found])
