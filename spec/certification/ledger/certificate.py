"""Certificates: made of verdicts and causes, and printed as their report."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from spec.backends.calling import UNTESTED
from spec.certification.diagnosing.diagnosis import Diagnosis
from spec.certification.judging.cause import Cause, Region
from spec.certification.judging.plan import granted
from spec.certification.judging.survey import Survey
from spec.certification.judging.verdict import Verdict, larger
from spec.certification.ledger.findings import Findings, blocks
from spec.certification.ledger.notebook import in_html
from spec.certification.ledger.text import report
from spec.certification.settings import Request, selected
from spec.certification.target.required import required
from spec.clause import leaving
from spec.notation import DTYPES
from spec.version import CURRENT

IN_VAIN = f"{UNTESTED}the chosen clauses: none but the definition applies to this target"


class Certificate(Findings):
    """The results for one implementation; its text is the whole report."""

    def __str__(self) -> str:
        return report(self)

    def _repr_html_(self) -> str:
        """The HTML that a notebook shows."""
        return in_html(self)


def certificate(
    request: Request,
    survey: Survey,
    run: Iterable[Verdict],
    timings: Mapping[str, float],
    diagnosis: Diagnosis,
) -> Certificate:
    """The certificate of a request, its verdicts in reading order."""
    place = {number: i for i, number in enumerate(survey.order)}  # then by format
    verdicts = sorted(
        [*survey.settled, *run], key=lambda v: (place.get(v.clause, 0), DTYPES.index(v.dtype))
    )
    verdicts = _deviating(survey, verdicts, few=request.profile == "quick")
    verdicts = [_explained(verdict, diagnosis) for verdict in verdicts]
    every = {**granted(verdicts), **diagnosis.grades}
    grades = {f"rounding {dtype}": grade for dtype, grade in every.items()}
    kept = ("name", "versions", "command", "refusals", "about", "definition", "source")
    chosen = ("defaults", "declares")
    clauses = required(request)
    advice = survey.advice if diagnosis.advice is None else diagnosis.advice
    notes = [*survey.notes, *leaving(c for n, c in clauses.items() if n in survey.order)]
    notes += [IN_VAIN] * _in_vain(request, survey, verdicts)
    return Certificate(
        verdicts=tuple(verdicts),
        conventions={**survey.conventions, **grades},
        coverage=_coverage(verdicts),
        largest=reduce(larger, (v.largest for v in verdicts), {}),
        timings=timings,
        seed=request.seed,
        profile=request.profile,
        notes=tuple(notes),
        advice=advice if any(map(blocks, verdicts)) else (),
        causes=diagnosis.causes,
        region=_region(request, diagnosis, verdicts),
        where=request.where,
        compiled=request.compiled,
        programs=survey.programs + diagnosis.programs + sum(v.programs for v in verdicts),
        specification=CURRENT,
        **{name: getattr(survey, name) for name in (*kept, *chosen)},
    )


def _in_vain(request: Request, survey: Survey, verdicts: Iterable[Verdict]) -> bool:
    """Whether clauses were chosen, and none but the definition applies, which is added to them.

    A person who names it before other clauses has chosen it.
    """
    if request.clauses is None or survey.definition in request.clauses[:-1]:
        return False
    every = selected(required(request), request.clauses)
    chosen = {clause.number for clause in every if clause.about == survey.about}
    applying = {v.clause for v in verdicts if v.outcome != "not offered"}
    chosen -= {survey.definition}
    return bool(chosen) and not chosen & applying


def _explained(verdict: Verdict, diagnosis: Diagnosis) -> Verdict:
    """The verdict with its causes, and with a library function that fails in the same way."""
    item = verdict.clause, verdict.dtype
    places, line = diagnosis.met.get(item, ()), diagnosis.likewise.get(item, verdict.likewise)
    return with_example(replace(verdict, causes=places, likewise=line), diagnosis.causes)


def with_example(verdict: Verdict, causes: Sequence[Cause]) -> Verdict:
    """The verdict with the counterexample of its first cause."""
    if not verdict.causes:
        return verdict
    return replace(verdict, counterexample=causes[verdict.causes[0]].counterexample)


def _region(request: Request, diagnosis: Diagnosis, verdicts: Iterable[Verdict]) -> Region:
    """The region outside of the causes; if none were searched for, everything or unknown."""
    if diagnosis.causes:
        stopped = any(v.outcome == "blocked" for v in verdicts)
        return replace(diagnosis.region, passed=diagnosis.region.passed and not stopped)
    held = not any(blocks(v) or v.outcome in ("blocked", "crashed") for v in verdicts)
    return Region.outside((), request.where, held)


def _deviating(survey: Survey, verdicts: list[Verdict], few: bool) -> list[Verdict]:
    """Declared failures as deviations; a deviation that passes in every dtype is violated.

    few: too few problems were tested to be sure that it passes.
    """
    left = ("violated", "blocked", "crashed")
    found = {v.clause for v in verdicts if v.outcome in left}
    unseen = set() if few else {*survey.strict} - found
    changed = []
    for verdict in verdicts:
        reason = survey.deviations.get(verdict.clause)
        if reason is not None and verdict.outcome == "violated":
            verdict = replace(verdict, outcome="deviates", message=reason)
        elif verdict.ran and verdict.clause in unseen:
            message = f"no longer deviates: take it off the list ({reason})"
            verdict = replace(verdict, outcome="violated", message=message)
        changed.append(verdict)
    return changed


def _coverage(verdicts: Iterable[Verdict]) -> Mapping[str, Mapping[str, float]]:
    totals: dict[str, list[int]] = {}
    for verdict in verdicts:
        total = totals.setdefault(verdict.dtype, [0, 0, 0])
        totals[verdict.dtype] = [a + b for a, b in zip(total, verdict.coverage, strict=True)]
    return {
        dtype: {"rows": rows, "capped": capped / rows, "silent": silent / rows}
        for dtype, (rows, capped, silent) in totals.items()
        if rows
    }
