"""One clause, one implementation, one dtype: problems are drawn until one breaks the clause."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spec.certification.judging.drawing import in_advance, same_chances, series
from spec.certification.judging.verdict import larger
from spec.clause import Clause
from spec.comparison import Violation, measuring
from spec.domain import Scope
from spec.kinds import kind_of
from spec.notation import HALF, Grade
from spec.subject import Backward, Refused, Subject
from spec.trial import Elsewhere, Watch, broken, unless_allowed
from spec.written import in_a_line

MORE = 4  # times as many problems are drawn where not all count
PARTS = {  # on what seconds are spent, in words
    "loading": "loading and probing",
    "implementation": "implementation",
    "specification": "definition and budgets",
    "drawing": "drawing problems",
    "elsewhere": "bookkeeping",
    "reduction": "causes and examples",
}


@dataclass
class Finding:
    """The results of a clause so far."""

    examples: int = 0
    refused: int = 0
    refusal: str = ""
    refused_kinds: set[tuple[str, ...]] = field(default_factory=set)
    worst: float = 0.0
    problem: Any = None  # of the kind that the clause is about
    place: int = 0  # of that problem, in its series
    violation: Violation | None = None
    rounding: Grade = "strict"
    raised: str = ""  # why it is no stricter one, if a problem needs it
    coverage: tuple[int, int, int] = (0, 0, 0)  # rows, of these capped, of these silent
    largest: dict[str, int] = field(default_factory=dict)  # of each size, in what was answered
    seconds: dict[str, float] = field(default_factory=dict)


def parts(verdicts: Iterable[Any], known: Mapping[str, float], total: float) -> Mapping[str, float]:
    """The seconds of a process that only loaded a target and judged it, by part."""
    spent = dict(known)
    for verdict in verdicts:
        for part, seconds in verdict.seconds.items():
            spent[part] = spent.get(part, 0.0) + seconds
    told = {part: spent.get(part, 0.0) for part in PARTS if part != "elsewhere"}
    return {"total": total, **told, "elsewhere": total - sum(told.values())}


def judged(
    clause: Clause,
    subject: Subject,
    scope: Scope,
    *,
    examples: int,
    seed: int,
    drawn: Callable[[Any], bool] | None = None,
) -> Finding:
    """Run `clause` on at most `examples` problems in `scope`, and stop at the first that breaks it.

    drawn: which problems count, if not all do; then more are drawn instead. In 16 bits, a looser
    rounding model is granted if it alone explains a failure, and none is declared; `plan` says how
    a certificate combines the rounding models of all clauses.
    """
    finding = _run(clause, subject, scope, examples, seed, drawn)
    if scope.dtype not in HALF or finding.problem is None:
        return finding
    for grade in subject.grades_from(scope.rounding)[1:]:
        if broken(clause, subject, finding.problem.but(rounding=grade)) is None:
            raised = replace(scope, rounding=grade)
            again = judged(clause, subject, raised, examples=examples, seed=seed, drawn=drawn)
            spent = {part: x + again.seconds[part] for part, x in finding.seconds.items()}
            if again.violation is None:
                return replace(again, seconds=spent, raised=_exceeded(finding))
            return replace(finding, seconds=spent)
    return finding


def _exceeded(finding: Finding) -> str:
    """By how much a problem exceeds the bound of a stricter rounding model, in words."""
    where = in_a_line(finding.problem)
    return f"an error of {finding.worst:.3g} times the bound of {finding.rounding}, for {where}"


def scope_for(clause: Clause, subject: Subject, dtype: str, rounding: Grade, reach: Any) -> Scope:
    """The scope of problems for this clause: those that the implementation supports."""
    answers = subject.answers
    return Scope(
        dtype=dtype,
        answers=answers & subject.differentiates if differentiates(clause) else answers,
        conventions=subject.chosen,
        rounding=subject.grades_from(rounding)[0] if dtype in HALF else "strict",
        reach=reach,
        multiples=subject.multiples,
        palette=subject.palette.get(clause.number, ()),
    )


def differentiates(clause: Clause) -> bool:
    """Whether the clause needs gradients, or results while gradients are recorded."""
    return bool(clause.needs & {*Backward})


def _run(
    clause: Clause,
    subject: Subject,
    scope: Scope,
    examples: int,
    seed: int,
    drawn: Callable[[Any], bool] | None,
) -> Finding:
    finding, watch = Finding(rounding=scope.rounding), Watch()
    wanted = examples * clause.effort
    watched = watch.over(subject)
    checking, drawing, start = 0.0, 0.0, time.perf_counter()
    most = wanted if drawn is None else MORE * wanted
    problems = in_advance(series(clause, scope, most, seed))
    with same_chances(), np.errstate(all="ignore"):
        end = time.perf_counter()
        for place, problem in enumerate(problems):
            begun = time.perf_counter()
            drawing += begun - end
            if drawn is None or drawn(problem):
                _examine(clause, watched, watch, problem, finding)
            end = time.perf_counter()
            checking += end - begun
            if finding.violation is not None or finding.examples >= wanted:
                finding.place = place
                break
    seconds = {
        "implementation": watch.seconds,
        "specification": checking - watch.seconds,
        "drawing": drawing,
        "elsewhere": time.perf_counter() - start - checking - drawing,
    }
    finding.seconds = {part: round(x, 6) for part, x in seconds.items()}
    return finding


def _examine(
    clause: Clause, watched: Subject, watch: Watch, problem: Any, finding: Finding
) -> None:
    """Test the clause on one problem, and note the result."""
    try:
        with measuring() as measure:
            clause.check(watched, problem)
    except Violation as violation:
        finding.problem, finding.violation = problem, violation
    except Refused as refusal:
        finding.violation = unless_allowed(refusal, watch, watched)
        finding.problem = None if finding.violation is None else problem
        if finding.violation is None:
            finding.refused += 1
            finding.refused_kinds.add(tuple(sorted(watched.kinds_of(watch.refused))))
        finding.refusal = str(refusal)
        return
    except Elsewhere:
        return
    finding.examples += 1
    finding.worst = max(finding.worst, measure.worst)
    reports = kind_of(clause.about).reports
    finding.largest = larger(finding.largest, reports.largest(problem))
    counted = reports.coverage(clause, watched, problem)
    if counted is not None:
        rows, capped, silent = (x + y for x, y in zip(finding.coverage, counted, strict=True))
        finding.coverage = (rows, capped, silent)
