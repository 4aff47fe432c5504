"""An implementation under examination: surveyed once, then asked clause by clause."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from spec.backends import Unsuitable
from spec.certification.explaining.likewise import likewise
from spec.certification.explaining.reduction import reduced
from spec.certification.explaining.script import script
from spec.certification.judging.judging import Finding, differentiates, judged, scope_for
from spec.certification.judging.judging import without_gradients as spared
from spec.certification.judging.survey import Survey
from spec.certification.judging.verdict import Counterexample, Verdict, unrun
from spec.certification.judging.witness import Witness
from spec.certification.settings import Request, check_conventions, concerning, with_definition
from spec.certification.target.declared import check_deviations
from spec.certification.target.deviations import Deviations, known
from spec.certification.target.loading import Target, load, resolved
from spec.certification.target.probing import IN_SINGLE, Probed, probed
from spec.certification.target.recognising import advice, recognised
from spec.clause import Clause
from spec.kind import Guarded, unchanged
from spec.kinds import kind_of
from spec.notation import Grade
from spec.subject import Subject
from spec.trial import broken


@dataclass
class Examiner:
    """An implementation, what probing left of it, and the clauses it is held to.

    patience: seconds left for making counterexamples smaller.
    offers: what the target has under its conventions, whether or not it answers.
    witness: how it answered first. deviations: what it is known, or declared, to break.
    guard: what it is seen through where conventions are tried.
    inference: it is never asked for gradients, nor for the sake of a counterexample.
    """

    request: Request
    raw: Subject
    probed: Probed
    clauses: Mapping[str, Clause]
    patience: float
    offers: frozenset[str]
    witness: Witness
    deviations: Deviations
    guard: Guarded = unchanged
    inference: bool = False

    @staticmethod
    def of(
        target: Target,
        request: Request,
        selected_only: bool = False,
        guard: Guarded = unchanged,
        survey: Mapping[str, Any] | None = None,
    ) -> Examiner:
        """Load the target and probe it, unless what that finds is known. Raises Unsuitable.

        selected_only: the definition is not added to a selection of clauses. guard: what the
        target is seen through, under its conventions, where it is tried out.
        """
        clauses = resolved(request.specification)
        raw = load(target, request, guard)
        check_conventions(raw, request.conventions)
        check_deviations(request.deviations, clauses, raw.about)
        kind = kind_of(raw.about)
        if not selected_only:
            request = with_definition(request, clauses, kind.definition)
        chosen = concerning(clauses, request.clauses, raw.about)
        deviations = known(kind, kind.program(raw), request.device)
        deviations = deviations.and_declared(request.deviations)
        declared = kind.under(raw, request.conventions)
        seen = guard(declared)
        witness = Witness.of(seen)
        found = probed(seen) if survey is None else Probed.from_json(seen, survey)
        if not found.by_dtype:
            raise Unsuitable(f"{raw.name} answers no problem: {found.refusals[0].message}")
        patience = request.thoroughness.reduction
        return Examiner(
            request, raw, found, chosen, patience, declared.offers, witness, deviations, guard
        )

    def survey(self) -> Survey:
        """What is to be run, and what is settled without."""
        items = [(clause, dtype) for dtype in self.raw.dtypes for clause in self.clauses.values()]
        unbound = {(clause.number, dtype): self._unbound(clause, dtype) for clause, dtype in items}
        return Survey(
            name=self.raw.name,
            about=self.raw.about,
            definition=kind_of(self.raw.about).definition,
            conventions={**self.raw.chosen, **self.request.conventions},
            defaults=self.raw.defaults,
            deviations=self.deviations.reasons,
            strict=self.deviations.strict,
            order=tuple(self.clauses),
            items=tuple(item for item, verdict in unbound.items() if verdict is None),
            settled=tuple(verdict for verdict in unbound.values() if verdict is not None),
            refusals=self.probed.refusals,
            notes=self.raw.notes + self.probed.notes + self.witness.changed("while it was probed"),
            advice=self._advice(),
            command=self.request.command(),
        )

    def verdict(self, number: str, dtype: str, grade: Grade) -> tuple[Verdict, Any]:
        """Run one clause in one dtype; with the problem that breaks it, if any does."""
        clause = self.clauses[number]
        implementation = self.probed.by_dtype[dtype]
        profile = self.request.thoroughness
        scope = scope_for(clause, implementation, dtype, grade, profile.name)
        try:
            finding = judged(
                clause, implementation, scope, examples=profile.examples, seed=self.request.seed
            )
        except Exception as error:
            reason = f"the clause itself failed: {type(error).__name__}: {error}"
            return unrun(clause, dtype, "crashed", reason), None
        return self._written(clause, dtype, finding), finding.problem

    def counterexample(self, verdict: Verdict, problem: Any) -> Counterexample:
        """The smallest problem found in the time that is left, and what it looks like."""
        clause = self.clauses[verdict.clause]
        raw, implementation = self.raw, self.probed.by_dtype[verdict.dtype]
        if self.inference:
            raw, implementation = spared(raw), spared(implementation)
        problem = problem.but(rounding=verdict.rounding)
        scope = scope_for(clause, implementation, verdict.dtype, "strict", "quick")
        start = time.monotonic()
        least = min(0.2, self.request.thoroughness.reduction)
        # What blocks nothing is not worth waiting for.
        seconds = least if clause.force == "should" else max(least, self.patience / 2)
        smaller, done = reduced(clause, implementation, problem, scope.answers, seconds)
        self.patience -= time.monotonic() - start
        violation = broken(clause, implementation, smaller)
        message = str(violation) if violation else verdict.message  # it may fail only at times
        left = {name: getattr(implementation, name) for name in ("answers", "differentiates")}
        return Counterexample(
            problem=smaller,
            message=message,
            about=clause.about,
            sentence=clause.sentence,
            formula=clause.formula,
            place=violation.place if violation else None,
            looks_like=self._looks_like(clause, implementation, smaller),
            script=script(clause, raw.but(**left), self.request, smaller, message),
            reduced=done,
        )

    def likewise(self, verdict: Verdict, example: Counterexample) -> str:
        """What the implementation calls, and what is known to be wrong in the same way."""
        clause, subject = self.clauses[verdict.clause], self.probed.by_dtype[verdict.dtype]
        if clause.number in self.deviations.reasons:
            return ""
        return likewise(clause, subject, example.problem, self.request.device)

    def _looks_like(self, clause: Clause, subject: Subject, problem: Any) -> tuple[str, ...]:
        """Known mistakes, if there is time to look for them."""
        if self.patience <= 0:
            return ()
        return kind_of(clause.about).looks_like(clause, subject, problem)

    def _unbound(self, clause: Clause, dtype: str) -> Verdict | None:
        """The verdict on a clause that does not bind here, or None."""
        missing = clause.needs - self.offers
        if missing:
            return unrun(clause, dtype, "not offered", _listed(missing))
        if dtype not in self.probed.by_dtype:
            message = next(r.message for r in self.probed.refusals if r.dtype == dtype)
            return unrun(clause, dtype, "refused", f"{dtype}: {message}")
        implementation = self.probed.by_dtype[dtype]
        lost = clause.needs - implementation.offers
        if differentiates(clause):
            lost |= (clause.needs & self.raw.answers) - implementation.differentiates
        if not lost:
            return None
        refused = {refusal.what for refusal in self.probed.refusals if refusal.dtype == dtype}
        absent = lost <= {*self.raw.offering} and not refused & lost
        return unrun(clause, dtype, "not offered" if absent else "refused", _listed(lost))

    def _written(self, clause: Clause, dtype: str, finding: Finding) -> Verdict:
        outcome = "holds" if finding.violation is None else "violated"
        message = str(finding.violation) if finding.violation else finding.refusal
        if finding.violation and dtype == "float64" and IN_SINGLE in self.probed.notes:
            message = f"{IN_SINGLE}: {message}"
        if not finding.examples and finding.violation is None:
            outcome = "refused"
        return replace(
            unrun(clause, dtype, outcome, message),  # type: ignore[arg-type]
            examples=finding.examples,
            worst=finding.worst,
            refused=finding.refused,
            rounding=finding.rounding,
            coverage=finding.coverage,
            seconds=finding.seconds,
        )

    def _advice(self) -> tuple[str, ...]:
        """What conventions the implementation seems to follow, told from its most exact dtype."""
        dtype = next(iter(self.probed.by_dtype))
        lost = self.offers - self.probed.by_dtype[dtype].answers
        narrowed = self.raw.but(answers=self.raw.answers - lost)
        found = recognised(narrowed, dtype, self.request.conventions, self.guard)
        return tuple(advice(name, choice) for name, choice in found.items())


def with_counterexample(examiner: Examiner, verdict: Verdict, problem: Any) -> Verdict:
    """The verdict with its counterexample, and with what else breaks its clause so."""
    example = examiner.counterexample(verdict, problem)
    return replace(verdict, counterexample=example, likewise=examiner.likewise(verdict, example))


def _listed(capabilities: frozenset[str]) -> str:
    return "; ".join(sorted(capabilities))
