"""A certificate made in this process, also of a closure or a function defined at a prompt."""

import time
from collections.abc import Sequence
from dataclasses import replace

from spec.backends.elsewhere import home
from spec.certification.diagnosing.diagnosis import Diagnosis, diagnosed, to_explain, unknown_causes
from spec.certification.diagnosing.raising import Raising
from spec.certification.judging.edition import ISOLATION, hashes
from spec.certification.judging.examiner import Examiner, with_counterexample
from spec.certification.judging.judging import parts
from spec.certification.judging.plan import Plan, granted
from spec.certification.judging.survey import Survey
from spec.certification.judging.verdict import SPENT, Verdict
from spec.certification.ledger.certificate import Certificate, certificate
from spec.certification.places import Place
from spec.certification.settings import Request
from spec.certification.target.loading import Target
from spec.notation import Grade


def judged_here(target: Target, request: Request) -> Certificate:
    """The certificate of a target, one clause after the other. Raises Unsuitable."""
    start, known = time.perf_counter(), hashes(target)
    examiner = Examiner.of(target, request)
    examiner.plan()
    survey = examiner.survey()
    known = {**known, ISOLATION: Place(target, home()).isolation}
    survey = replace(survey, versions={**survey.versions, **known})
    loading, _ = time.perf_counter() - start, examiner.witness.lap()
    survey, verdicts = _in_process(examiner, survey, start)
    since, asked = time.perf_counter(), examiner.witness.lap()
    diagnosis = _diagnosed(examiner, survey, verdicts)
    now = time.perf_counter()
    spent = {"loading": loading, "implementation": asked, "reduction": now - since}
    timings = parts(verdicts, spent, now - start)
    return certificate(request, survey, verdicts, timings, diagnosis)


def _in_process(examiner: Examiner, survey: Survey, start: float) -> tuple[Survey, list[Verdict]]:
    """The verdicts on the survey's items, one after the other, as time and options allow."""
    request, notes, raising = examiner.request, list[str](), Raising(examiner)
    plan = Plan.of(survey.items, request, examiner.clauses)
    while plan.go_on():
        if request.budget is not None and time.perf_counter() - start > request.budget:
            plan.stop(SPENT.format(request.budget))
            break
        number, dtype = item = plan.waiting[0]
        how = plan.begin(item)
        if request.fail_fast:
            plan.note(examined(examiner, number, dtype, *how))
        else:
            plan.note(raising.said(examiner.verdict(number, dtype, *how)[0]))
        notes += examiner.witness.changed(f"while {number} was run", dtype)
    verdicts = plan.all(examiner.clauses)
    notes += unknown_causes(survey, verdicts, plan.reason, Diagnosis())
    return replace(survey, notes=(*survey.notes, *notes)), verdicts


def _diagnosed(examiner: Examiner, survey: Survey, verdicts: Sequence[Verdict]) -> Diagnosis:
    """The causes of failures, if there are any to explain."""
    failing = to_explain(examiner.request, survey, verdicts)
    return diagnosed(examiner, failing, granted(verdicts)) if failing else Diagnosis()


def examined(
    examiner: Examiner, number: str, dtype: str, grade: Grade, few: bool = False
) -> Verdict:
    """The verdict on one clause, with its counterexample."""
    verdict, problem = examiner.verdict(number, dtype, grade, few)
    return verdict if problem is None else with_counterexample(examiner, verdict, problem)
