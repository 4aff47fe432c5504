"""An implementation under examination: probed once, then tested clause by clause."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from spec.abilities import Guarded, unchanged
from spec.backends import Unsuitable
from spec.backends.compiled import none, not_compiled, programs
from spec.certification.each import Each, one_by_one
from spec.certification.explaining.likewise import likewise
from spec.certification.explaining.reduction import reduced
from spec.certification.explaining.script import ONCE, Again, script
from spec.certification.judging.apart import apart
from spec.certification.judging.binding import unbound
from spec.certification.judging.bounds import Bounds
from spec.certification.judging.judging import Finding, judged, scope_for
from spec.certification.judging.plan import FEW, in_turn
from spec.certification.judging.promised import number_of, with_smallest
from spec.certification.judging.replaying import BREAKS, replayed, word
from spec.certification.judging.sampled import planned
from spec.certification.judging.survey import Survey, told
from spec.certification.judging.verdict import ITSELF, Counterexample, Verdict, unrun
from spec.certification.judging.witness import Witness
from spec.certification.settings import Request, check_conventions, concerning, with_definition
from spec.certification.target.declared import check_deviations
from spec.certification.target.deviations import Deviations, known
from spec.certification.target.loading import Target, load
from spec.certification.target.precision import IN_SINGLE
from spec.certification.target.probed import Probed
from spec.certification.target.probing import probed
from spec.certification.target.recognising import Recognised, recognised
from spec.certification.target.required import required
from spec.certification.target.source import source_of
from spec.certification.target.versions import versions_of
from spec.clause import Clause
from spec.kinds import kind_of
from spec.notation import Grade
from spec.subject import Subject
from spec.trial import broken

AS_FOUND = ["examples", "worst", "refused", "rounding", "raised", "coverage", "largest", "seconds"]


@dataclass
class Examiner:
    """An implementation, the results of probing it, and the clauses that it is tested with.

    patience: seconds left for making counterexamples smaller. offers: what the target supports
    under its conventions, whether or not calls succeed. witness: its first results. deviations:
    clauses that it is known, or declared, to fail. bounds: of the problems on which it is judged.
    guard: wraps it in trials. inference: without gradients. programs: compiled before judging.
    """

    request: Request
    raw: Subject
    probed: Probed
    clauses: Mapping[str, Clause]
    patience: float
    offers: frozenset[str]
    witness: Witness
    deviations: Deviations
    bounds: Bounds
    guard: Guarded = unchanged
    inference: bool = False
    programs: int = 0

    @staticmethod
    def of(
        target: Target,
        request: Request,
        guard: Guarded = unchanged,
        survey: Mapping[str, Any] | None = None,
        each: Each = one_by_one,
    ) -> Examiner:
        """Load the target and probe it, unless the results are known. Raises Unsuitable.

        The definition is added to a selection of clauses. guard: wraps the target, under its
        conventions, in trials. each: runs the probing of several dtypes.
        """
        clauses, compiled = required(request), programs()
        refused = not_compiled() if survey is None else None
        raw = load(target, request, guard)
        check_conventions(raw, request.conventions)
        check_deviations(request.deviations, clauses, raw.about)
        kind = kind_of(raw.about)
        request = with_definition(request, clauses, kind.definition)
        chosen = concerning(clauses, request.clauses, raw.about)
        deviations = known(kind.targets, kind.targets.program(raw), request.device)
        deviations = deviations.and_declared(request.deviations)
        declared = kind.conventions.under(raw, request.conventions)
        seen = guard(declared)
        witness = Witness.of(seen, refused)
        found = Probed.from_json(seen, survey) if survey else probed(seen, request.device, each)
        if not found.by_dtype:
            raise Unsuitable(f"{raw.name} could not be called: {found.refusals[0].message}")
        if request.compiled and none():
            raise Unsuitable(f"--compiled {request.compiled}: nothing of {raw.name} was compiled")
        settled = declared.offers, witness, deviations, Bounds.asked(kind, request.where)
        patience, made = request.thoroughness.reduction, programs() - compiled + found.programs
        return Examiner(request, raw, found, chosen, patience, *settled, guard, programs=made)

    def plan(self, beat: Callable[[], None] = lambda: None, timed: bool = False) -> None:
        """Choose the shapes on which a target that compiles is tested; calls `beat` on the way.

        All clauses count, whichever are selected. timed: also estimate the cost of those.
        """
        clauses, kind = required(self.request), kind_of(self.raw.about)
        how, before = (self.request.thoroughness, self.request.seed, self.bounds, beat), programs()
        self.probed = planned(kind, clauses, self.probed, *how, self.clauses if timed else ())
        self.programs += programs() - before

    def survey(self) -> Survey:
        """The clauses that have to be run, and the verdicts that need no run."""
        definition = kind_of(self.raw.about).definition
        items = [(clause, dtype) for dtype in self.raw.dtypes for clause in self.clauses.values()]
        seen = self.offers, self.raw, self.probed
        bound = {(clause.number, dtype): unbound(clause, dtype, *seen) for clause, dtype in items}
        left = (item for item, verdict in bound.items() if verdict is None)
        return Survey(
            **{x: getattr(self.raw, x) for x in ("name", "about", "defaults", "declares")},
            **told(),
            definition=definition,
            conventions={**self.raw.chosen, **self.request.conventions, **self.probed.shown},
            deviations=self.deviations.reasons,
            strict=() if self.probed.sampled else self.deviations.strict,
            order=tuple(self.clauses),
            items=in_turn(left, self.clauses, definition, self.request),
            settled=tuple(verdict for verdict in bound.values() if verdict is not None),
            refusals=self.probed.refusals,
            notes=self.raw.notes + self.probed.notes + self.witness.changed("while it was probed"),
            advice=self.recognised.advice,
            command=self.request.command(),
            programs=self.programs,
            versions=versions_of(self.raw.origin),
            source=source_of(self.raw.origin),
            supports={d: (*sorted(x.offers),) for d, x in self.probed.by_dtype.items()},
        )

    def verdict(
        self, number: str, dtype: str, grade: Grade, few: bool = False
    ) -> tuple[Verdict, Any]:
        """Run one clause in one dtype; also return the failing problem if the run may end."""
        clause, implementation = self.clauses[number], self.probed.by_dtype[dtype]
        profile, seed, compiled = self.request.thoroughness, self.request.seed, programs()
        scope = scope_for(clause, implementation, dtype, grade, profile.name)
        seen, elsewhere = self.bounds.over(implementation), not self.bounds.everywhere
        drawn = (lambda _: True) if elsewhere else None  # more, in the place of what lies there
        if self.request.replays:
            return replayed(clause, implementation, scope, self.request.replays), None
        try:
            most = FEW if few else number_of(clause, profile)
            finding = judged(clause, seen, scope, examples=most, seed=seed, drawn=drawn)
        except Exception as x:
            return unrun(clause, dtype, "crashed", f"{ITSELF}: {type(x).__name__}: {x}"), None
        known, notes = {} if few else self.clauses, self.witness.notes
        finding = apart(clause, seen, finding, known, [*self.probed.by_dtype], profile, notes)
        verdict = self._written(clause, dtype, finding)
        if finding.problem is not None:
            verdict = replace(verdict, drawn={word(scope, seed, finding): BREAKS})
        verdict = with_smallest(verdict, clause, seen, finding.problem)
        ends = clause.force == "must" or (clause.force == "should" and not few)
        return replace(verdict, programs=programs() - compiled), finding.problem if ends else None

    def counterexample(self, verdict: Verdict, problem: Any) -> Counterexample:
        """The smallest problem found in the time that is left, and its likely bugs."""
        clause, implementation = self.clauses[verdict.clause], self.probed.by_dtype[verdict.dtype]
        if self.inference:
            implementation = implementation.without_gradients()
        problem, start = problem.but(rounding=verdict.rounding), time.monotonic()
        scope = scope_for(clause, implementation, verdict.dtype, "strict", "quick")
        least = min(0.2, self.request.thoroughness.reduction)  # for what blocks nothing
        seconds = least if clause.force == "should" else max(least, self.patience / 2)
        seen = self.bounds.over(implementation)
        smaller, done = reduced(clause, seen, problem, scope.answers, seconds)
        self.patience -= time.monotonic() - start
        message = str(broken(clause, implementation, smaller) or verdict.message)  # only at times
        example = self.shown(clause, smaller, message, done)
        if self.patience <= 0:
            return example
        likely = kind_of(clause.about).looks_like((clause,), implementation, smaller)
        return replace(example, looks_like=likely)

    def shown(
        self, clause: Clause, problem: Any, message: str, done: bool, again: Again = ONCE
    ) -> Counterexample:
        """A counterexample for a problem that breaks a clause, without likely bugs."""
        subject = self.probed.by_dtype[problem.dtype]
        violation = broken(clause, subject, problem)
        raw = self.raw.without_gradients() if self.inference else self.raw
        raw = raw.but(answers=subject.answers, differentiates=subject.differentiates)
        return Counterexample(
            problem=problem,
            message=message,
            about=clause.about,
            sentence=clause.sentence,
            formula=clause.formula,
            place=violation.place if violation else None,
            compared=violation.whole if violation else None,
            looks_like=(),
            script=script(clause, raw, self.request, problem, message, again),
            reduced=done,
        )

    def likewise(self, number: str, dtype: str, problem: Any) -> str:
        """A line about a library function that it calls and that has the same failure."""
        if number in self.deviations.reasons:
            return ""
        subject = self.probed.by_dtype[dtype]
        return likewise(self.clauses[number], subject, problem, self.request.device)

    def _written(self, clause: Clause, dtype: str, finding: Finding) -> Verdict:
        outcome = "holds" if finding.violation is None else "violated"
        message = str(finding.violation) if finding.violation else finding.refusal
        if finding.violation and dtype == "float64" and IN_SINGLE in self.probed.notes:
            message = f"{IN_SINGLE}: {message}"
        if not finding.examples and finding.violation is None:
            outcome = "refused" if self.bounds.everywhere or finding.refused else "not offered"
            message = message or f"problems where {self.request.where}"
        return replace(
            unrun(clause, dtype, outcome, message),  # type: ignore[arg-type]
            refused_kinds=tuple(sorted(finding.refused_kinds)),
            **{name: getattr(finding, name) for name in AS_FOUND},
        )

    @cached_property
    def recognised(self) -> Recognised:
        """Undeclared conventions that it seems to follow in its most exact dtype."""
        return self.recognised_in(self.raw)

    def recognised_in(self, raw: Any) -> Recognised:
        """The same of the target with a change."""
        dtype = self.probed.exact
        left = raw.answers - (self.offers - self.probed.by_dtype[dtype].answers)
        return recognised(raw.but(answers=left), dtype, self.request.conventions, self.guard)


def with_counterexample(examiner: Examiner, verdict: Verdict, problem: Any) -> Verdict:
    """The verdict with its counterexample, and with a library's equal failure."""
    start = time.perf_counter()
    example = examiner.counterexample(verdict, problem)
    likewise = examiner.likewise(verdict.clause, verdict.dtype, example.problem)
    seconds = {**verdict.seconds, "reduction": time.perf_counter() - start}
    return replace(verdict, counterexample=example, likewise=likewise, seconds=seconds)
