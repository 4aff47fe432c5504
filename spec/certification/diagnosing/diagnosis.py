"""What is wrong with a target, by cause: looked for, made smaller, and told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spec.certification.diagnosing.besides import does_as, found_besides
from spec.certification.diagnosing.evidence import Each, Evidence, one_by_one
from spec.certification.diagnosing.experiments import in_format
from spec.certification.diagnosing.leads import Found, Row
from spec.certification.diagnosing.mending import Mending
from spec.certification.diagnosing.outside import Outside
from spec.certification.diagnosing.search import Search
from spec.certification.diagnosing.table import calls
from spec.certification.judging.bounds import Bounds, group
from spec.certification.judging.cause import Cause, Region
from spec.certification.judging.examiner import Examiner
from spec.certification.judging.plan import Item
from spec.certification.judging.survey import Survey
from spec.certification.judging.verdict import Counterexample, Verdict
from spec.certification.settings import Request
from spec.certification.target.loading import resolved
from spec.kinds import kind_of
from spec.notation import DTYPES, Grade
from spec.trial import broken

ALIKE = 6  # problems of either sort that a known mistake has to answer as the target does
SMALLER = 600  # problems at most for making a counterexample smaller


@dataclass(frozen=True)
class Diagnosis:
    """The causes, what is left outside of them, and which of them each violated item met.

    likewise: a line for each item that something which the target calls is known to break alike.
    """

    causes: tuple[Cause, ...] = ()
    region: Region = field(default_factory=Region)
    met: Mapping[Item, tuple[int, ...]] = field(default_factory=dict)
    likewise: Mapping[Item, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The diagnosis as JSON has it."""
        met = [[*item, [*x], self.likewise.get(item, "")] for item, x in self.met.items()]
        causes = [cause.to_json() for cause in self.causes]
        return {"causes": causes, "region": vars(self.region), "met": met}

    @staticmethod
    def from_json(written: Mapping[str, Any]) -> "Diagnosis":
        """The diagnosis that `to_json` wrote."""
        causes = tuple(Cause.from_json(cause) for cause in written["causes"])
        met = {(number, dtype): tuple(places) for number, dtype, places, _ in written["met"]}
        said = {(number, dtype): line for number, dtype, _, line in written["met"] if line}
        return Diagnosis(causes, Region.from_json(written["region"]), met, said)


def to_explain(request: Request, survey: Survey, verdicts: Sequence[Verdict]) -> list[Item]:
    """The items that are violated and not known to be, in the order of the clauses.

    None if all of them are of clauses that should hold, which block nothing; nor where the run was
    to end with the first, or was stopped.
    """
    if request.fail_fast or any(verdict.outcome == "blocked" for verdict in verdicts):
        return []
    places = {number: place for place, number in enumerate(survey.order)}
    found = [v for v in verdicts if v.outcome == "violated" and v.clause not in survey.deviations]
    if all(v.force == "should" for v in found):
        return []
    items = ((v.clause, v.dtype) for v in found)
    return sorted(items, key=lambda item: (places[item[0]], DTYPES.index(item[1])))


def diagnosed(
    examiner: Examiner,
    failing: Sequence[Item],
    grades: Mapping[str, Grade],
    each: Each = one_by_one,
) -> Diagnosis:
    """Why the items that were violated are. failing: in reading order. grades: those granted.

    each: who has many problems tried.
    """
    profile, request = examiner.request.thoroughness, examiner.request
    kind = kind_of(examiner.raw.about)
    clauses = {n: c for n, c in resolved(request.specification).items() if c.about == kind.about}
    subjects, bounds = examiner.probed.by_dtype, examiner.bounds
    evidence = Evidence(kind, subjects, grades, bounds, profile.drawn, profile.name, each)
    start = Outside(evidence, evidence, clauses, profile.examples, request.seed, bounds)
    with np.errstate(all="ignore"):
        search = Search(start, profile.diagnosis, Mending(examiner))
        passed = search.run(failing)
        besides = [found_besides(search, found) for found in search.found]
        search.found += [found for found in besides if found is not None]
        known = search.broken
        seen = {item: known[item] if item in known else start.breaks(item) for item in failing}
        alone = [Bounds.of(kind, "", [found.cause]) for found in search.found]
        met = {item: _met(search, evidence, alone, item, x) for item, x in seen.items()}
        said = {item: examiner.likewise(*item, x) for item, x in seen.items() if x is not None}
        causes = [_told(examiner, search, evidence, met, x) for x in enumerate(search.found)]
    passed = passed and all(met[item] for item in failing if clauses[item[0]].force == "must")
    # What was set apart inside of another cause is not taken out twice.
    out = [x for x, found in zip(causes, search.found, strict=True) if not x.besides or found.line]
    return Diagnosis((*causes,), Region.outside(out, request.where, passed), met, said)


def _met(
    search: Search, first: Evidence, each: Sequence[Bounds], item: Item, problem: Any
) -> tuple[int, ...]:
    """The places of the causes that a problem which broke a clause lies in.

    each: what lies outside of each of them.
    """
    if problem is None:
        return ()
    number, dtype = item
    clause, subject = search.start.clauses[number], first.subjects[dtype]
    asked = [(group(search.kind, name), put) for name, put in calls(clause, subject, problem)]

    def outside(alone: Bounds) -> bool:
        return alone.draws(problem, number) and all(alone.has(put, name) for name, put in asked)

    return tuple(place for place, alone in enumerate(each) if not outside(alone))


def _told(
    examiner: Examiner,
    search: Search,
    evidence: Evidence,
    met: Mapping[Item, Sequence[int]],
    placed: tuple[int, Found],
) -> Cause:
    """The cause with what met it, its smallest counterexample, and what else fits it."""
    place, found = placed
    items = [item for item, places in met.items() if place in places]
    numbers, dtypes = ({item[i]: None for item in items} for i in (0, 1))
    cause = replace(found.cause, clauses=(*numbers,), dtypes=(*dtypes,))
    return replace(cause, counterexample=_smallest(examiner, search, evidence, found))


def _smallest(
    examiner: Examiner, search: Search, evidence: Evidence, found: Found
) -> Counterexample | None:
    """The smallest problem of a cause, and what else fits it."""
    cause, lead = found.cause, found.lead
    alone = Bounds.of(search.kind, "", [cause])
    beside = [x.cause for x in search.found if x is not found and not cause.besides]
    others = Bounds.of(search.kind, "", beside)

    def keeps(row: Row) -> bool:
        inside = row.how == lead.how and not lead.within(alone, row.problem)
        if not inside or not lead.within(others, row.problem):
            return False
        return not cause.besides or not does_as(evidence, lead, cause.besides, row.problem)

    rows = (evidence.row(lead, problem) for problem in (lead.problem, *found.others))
    start = next((row.problem for row in rows if row is not None and keeps(row)), None)
    if start is None:
        return None
    lead = replace(lead, problem=start)
    problem, _, done = evidence.way_down(lead, keeps, SMALLER, numbers=True)
    problem = problem.but(rounding=evidence.grades.get(problem.dtype, "strict"))
    broke = evidence.failure(lead, problem)
    if broke is None:
        return None
    example = examiner.shown(broke[0], problem.dtype, problem, str(broke[1]), done)
    return _likened(search, evidence, found, example, alone)


def _likened(
    search: Search, evidence: Evidence, found: Found, example: Counterexample, alone: Bounds
) -> Counterexample:
    """The counterexample with the known mistakes that fail just where the target does."""
    lead = found.lead
    if found.line:
        return replace(example, looks_like=(found.line,))
    rows = evidence.draws(lead)
    wrong = [r for r in rows if r.how and not lead.within(alone, r.problem)][:ALIKE]
    right = [r for r in rows if not r.how][:ALIKE]
    subject = evidence.subjects[example.problem.dtype]
    lines = search.kind.looks_like(lead.clauses[0], subject, example.problem)
    fitting = (x for x in lines if _fits(search, found, x.split(" ")[0], [*wrong, *right]))
    return replace(example, looks_like=tuple(fitting))


def _fits(search: Search, found: Found, name: str, rows: Sequence[Row]) -> bool:
    """Whether a known mistake is wrong on the rows that are, and right on the others."""
    subject = search.kind.subjects[name]
    formats = search.kind.mistakes[name].dtypes

    def wrong(row: Row) -> bool:
        dtype = row.problem.dtype
        problem = row.problem if dtype in subject.dtypes else in_format(row.problem, formats[0])
        return any(c.binds(subject) and broken(c, subject, problem) for c in found.lead.clauses)

    return all(wrong(row) == bool(row.how) for row in rows)
