"""The causes of a target's failures: found, made smaller, and described."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from spec.backends.compiled import programs
from spec.certification.diagnosing.besides import found_besides
from spec.certification.diagnosing.evidence import Evidence
from spec.certification.diagnosing.memory import Alone, nobody
from spec.certification.diagnosing.mending import Mending
from spec.certification.diagnosing.outside import Outside
from spec.certification.diagnosing.overruled import advice, overruled, told_after
from spec.certification.diagnosing.search import Search
from spec.certification.diagnosing.table import calls
from spec.certification.diagnosing.telling import Telling
from spec.certification.each import Each, one_by_one
from spec.certification.judging.bounds import Bounds
from spec.certification.judging.cause import Cause, Heard, Region
from spec.certification.judging.examiner import Examiner
from spec.certification.judging.plan import Item
from spec.certification.judging.survey import Survey
from spec.certification.judging.verdict import INTERRUPTED, ITSELF, SPENT, Verdict
from spec.certification.settings import Request
from spec.certification.target.required import required
from spec.kinds import kind_of
from spec.notation import DTYPES, HALF, Grade
from spec.subject import Refused

ASIS = ("programs", "grades", "advice", "failed")  # what is written as it is


@dataclass(frozen=True)
class Diagnosis:
    """The causes, whether all passes outside of them, and which of them each failing item met.

    likewise: a line for each item about a library function with the same failure. programs: how
    many were compiled for it. grades: rounding models that are granted if there is another cause.
    advice: on conventions, if causes change it.
    failed: the error that ended the search, a defect of this package.
    """

    causes: tuple[Cause, ...] = ()
    region: Region = field(default_factory=Region)
    met: Mapping[Item, tuple[int, ...]] = field(default_factory=dict)
    likewise: Mapping[Item, str] = field(default_factory=dict)
    programs: int = 0
    grades: Mapping[str, Grade] = field(default_factory=dict)
    advice: tuple[str, ...] | None = None
    failed: str = ""

    def to_json(self) -> dict[str, Any]:
        """The diagnosis as JSON."""
        met = [[*item, [*x], self.likewise.get(item, "")] for item, x in self.met.items()]
        causes = [cause.to_json() for cause in self.causes]
        told = {"causes": causes, "region": vars(self.region), "met": met}
        return {**told, **{name: getattr(self, name) for name in ASIS}}

    @staticmethod
    def from_json(written: Mapping[str, Any]) -> "Diagnosis":
        """The diagnosis that `to_json` wrote."""
        causes = tuple(Cause.from_json(cause) for cause in written["causes"])
        met = {(number, dtype): tuple(places) for number, dtype, places, _ in written["met"]}
        said = {(number, dtype): line for number, dtype, _, line in written["met"] if line}
        region = Region.from_json(written["region"])
        spent = {name: written[name] for name in ASIS}
        lines = spent["advice"]
        spent["advice"] = None if lines is None else tuple(lines)
        return Diagnosis(causes, region, met, said, **spent)


def to_explain(request: Request, survey: Survey, verdicts: Sequence[Verdict]) -> list[Item]:
    """The items that fail or crash and are not declared to, in the order of the clauses.

    Promises that nobody declared are left out. Empty if only recommended clauses fail; also if the
    run ends with the first failure, was stopped for another reason than crashes, or tests old
    problems again.
    """
    every = [*survey.settled, *verdicts]
    crashed = [v for v in every if v.outcome == "crashed" and not v.message.startswith(ITSELF)]
    blocked = any(v.outcome == "blocked" for v in verdicts)
    if request.fail_fast or request.replays or (blocked and not crashed):
        return []
    places = {number: place for place, number in enumerate(survey.order)}
    found = [v for v in verdicts if v.outcome == "violated" and v.force != "promise"] + crashed
    found = [v for v in found if v.clause not in survey.deviations]
    if all(v.force == "should" for v in found):
        return []
    items = ((v.clause, v.dtype) for v in found)
    return sorted(items, key=lambda item: (places[item[0]], DTYPES.index(item[1])))


def unknown_causes(
    survey: Survey, verdicts: Sequence[Verdict], why: str, found: Diagnosis
) -> list[str]:
    """A note that causes are not known, if a person or the budget stopped the run too early.

    why: the reason why the run was stopped, if it was.
    """
    fails = (v for v in verdicts if v.outcome in ("violated", "crashed") and v.force == "must")
    first = next((v.clause for v in fails if v.clause not in survey.deviations), "")
    early = why == INTERRUPTED or why.startswith(SPENT.partition("{")[0])
    said = f"no causes are known, as the run was stopped ({why}): for causes, let the run end"
    ways = f"{said}, or test a clause that fails alone (--clause {first})"
    return [ways] * bool(first and early and not found.causes)


def begun(
    examiner: Examiner,
    failing: Sequence[Item],
    each: Each = one_by_one,
    heard: Heard = lambda _: None,
) -> Diagnosis:
    """A diagnosis without causes; `heard` receives the first cause, with its counterexample.

    It is sought in the formats wider than 16 bits, as no rounding model is granted yet.
    """
    compiled, subjects = programs(), examiner.probed.by_dtype
    wide = {dtype: subject for dtype, subject in subjects.items() if dtype not in HALF}
    start = _start(examiner, wide, {}, each)
    search = Search(start, 0.0, Mending(examiner), lambda _: None)
    with np.errstate(all="ignore"):
        leads = filter(None, map(search.outside.lead, failing))
        if lead := next((lead for lead in leads if not lead.drawn), None):
            search.look_into(lead)
        for found in search.found[:1]:
            heard(Telling(examiner, search, search.start.first, nobody).told(found, 0, {}))
    return Diagnosis(programs=programs() - compiled)


def diagnosed(
    examiner: Examiner,
    failing: Sequence[Item],
    grades: Mapping[str, Grade],
    each: Each = one_by_one,
    alone: Alone = nobody,
    heard: Heard = lambda _: None,
) -> Diagnosis:
    """The causes of failing items. failing: in reading order. grades: the granted ones.

    each: runs a function on many problems. alone: the target before its first call. heard: receives
    the first cause, long before all of them are known.
    """
    profile, request = examiner.request.thoroughness, examiner.request
    compiled = programs()
    start = _start(examiner, examiner.probed.by_dtype, grades, each)
    kind, clauses = start.evidence.kind, start.clauses
    must = [item for item in failing if clauses[item[0]].force == "must"]
    with np.errstate(all="ignore"):
        searched = _searched(start, profile.diagnosis, Mending(examiner), failing, heard)
        mended = any(found.cause.lens for found in searched.search.found)
        if mended and not all(searched.met[item] for item in must):  # less is mended than it seems
            shut = Mending(examiner, shut=True)
            searched = _searched(start, profile.diagnosis, shut, failing)
        search, met, seen = searched.search, searched.met, searched.seen
        said = {item: examiner.likewise(*item, x) for item, x in seen.items() if x is not None}
        first = search.start.first
        telling = Telling(examiner, search, first, alone)
        causes = [telling.told(found, x, met) for x, found in enumerate(search.found)]
        follows = examiner.recognised
        explained = overruled(kind, causes, follows)
        causes = told_after(causes, follows, explained)
    raised = {dtype: x for dtype, x in first.grades.items() if x != grades.get(dtype)}
    # What is broken no more is explained by the bounds that are granted now.
    left = [item for item in must if seen[item] is not None or item[1] not in raised]
    passed = searched.passed and all(met[item] for item in left)
    # What was set apart inside of another cause is not taken out twice.
    out = [cause for cause in causes if not cause.besides]
    region = Region.outside(out, request.where, passed)
    line = advice(causes, follows, explained)
    return Diagnosis((*causes,), region, met, said, programs() - compiled, raised, line)


def _start(
    examiner: Examiner, subjects: Mapping[str, Any], grades: Mapping[str, Grade], each: Each
) -> Outside:
    """The tests of a target in some formats, as yet without causes."""
    profile, request = examiner.request.thoroughness, examiner.request
    kind, bounds = kind_of(examiner.raw.about), examiner.bounds
    clauses = {n: c for n, c in required(request).items() if c.about == kind.about}
    evidence = Evidence(kind, subjects, grades, bounds, profile.drawn, profile.name, each)
    return Outside(evidence, evidence, clauses, profile.examples, request.seed, bounds)


class _Searched(NamedTuple):
    """The result of a search: whether all passes outside, failing problems, and their causes."""

    search: Search
    passed: bool
    seen: Mapping[Item, Any]
    met: Mapping[Item, tuple[int, ...]]


def _searched(
    start: Outside,
    seconds: float,
    mending: Mending,
    failing: Sequence[Item],
    heard: Heard = lambda _: None,
) -> _Searched:
    """The causes that are found through some lenses, and which of them each item met."""
    search = Search(start, seconds, mending, heard)
    passed = search.run(failing)
    besides = [found_besides(search, found) for found in search.found]
    search.found += [found for found in besides if found is not None]
    known, start = search.broken, replace(start, first=search.start.first)
    # A problem that a lens makes another one, a causal one say, may break nothing without it.
    seen = {item: known.get(item) or start.breaks(item) for item in failing}
    apart = [Bounds.of(search.kind, "", [found.cause]) for found in search.found]
    met = {item: _met(search, start.first, apart, item, x) for item, x in seen.items()}
    for item, x in seen.items():
        met[item] = met[item] or _together(search, item, x)
    return _Searched(search, passed, seen, met)


def _together(search: Search, item: Item, problem: Any) -> tuple[int, ...]:
    """The causes that lenses correct, if a problem needs them all, as one masks a query fully."""
    lenses = tuple(place for place, found in enumerate(search.found) if found.cause.lens)
    if problem is None or len(lenses) < 2:
        return ()
    clause, evidence = search.start.clauses[item[0]], search.evidence
    if not clause.binds(evidence.subjects[item[1]]):
        return ()
    with suppress(Refused):
        return () if evidence.violation([clause], evidence.posed(problem)) else lenses
    return ()


def _met(
    search: Search, first: Evidence, each: Sequence[Bounds], item: Item, problem: Any
) -> tuple[int, ...]:
    """The positions of the causes that contain a problem which broke a clause.

    each: the problems outside of each cause.
    """
    if problem is None:
        return ()
    number, dtype = item
    clause, subject = search.start.clauses[number], first.subjects[dtype]
    result = search.kind.functions.group
    asked = [(result(name), put) for name, put in calls(clause, subject, problem)]

    def outside(alone: Bounds) -> bool:
        return alone.draws(problem, number) and all(alone.has(put, name) for name, put in asked)

    return tuple(place for place, alone in enumerate(each) if not outside(alone))
