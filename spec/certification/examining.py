"""An implementation under examination: surveyed once, then asked clause by clause."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from spec.backends import Unsuitable
from spec.certification.contracts import contract
from spec.certification.contracts.contract import Guarded, unguarded
from spec.certification.loading import Target, load
from spec.certification.probing import Probed, Refusal, probed
from spec.certification.recognition import advice
from spec.certification.reduction import reduced
from spec.certification.reproduction import script
from spec.certification.running import Finding, broken, differentiates, judged, scope_for
from spec.certification.running import without_gradients as spared
from spec.certification.settings import Request, check_conventions, concerning
from spec.certification.verdicts import Counterexample, Verdict, unrun, verdict_from_json
from spec.certification.verdicts import verdict_to_json as as_json
from spec.certification.versions import versions
from spec.certification.witness import Witness
from spec.clause import Clause
from spec.implementation import Capability, Subject
from spec.notation import Grade


@dataclass(frozen=True)
class Survey:
    """What is known before anything is run.

    about: the kind of subject. order: the numbers of all clauses, in reading order. items:
    (number of a clause, dtype) of all that is to be run. settled: the verdicts that need no
    run. advice: what conventions were recognised, and how to declare them.
    """

    name: str
    about: str
    origin: str
    conventions: Mapping[str, str]
    deviations: Mapping[str, str]
    order: tuple[str, ...]
    items: tuple[tuple[str, str], ...]
    settled: tuple[Verdict, ...]
    refusals: tuple[Refusal, ...]
    notes: tuple[str, ...]
    advice: tuple[str, ...]
    versions: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """The survey as JSON has it."""
        written = {name: getattr(self, name) for name in self.__dataclass_fields__}
        written["settled"] = [as_json(verdict) for verdict in self.settled]
        written["refusals"] = [vars(refusal) for refusal in self.refusals]
        return {n: dict(x) if isinstance(x, Mapping) else x for n, x in written.items()}

    @staticmethod
    def from_json(written: Mapping[str, Any]) -> Survey:
        """The survey that `to_json` wrote."""
        fields = dict(written)
        fields["items"] = tuple((number, dtype) for number, dtype in fields["items"])
        fields["settled"] = tuple(verdict_from_json(v) for v in fields["settled"])
        fields["refusals"] = tuple(Refusal(**refusal) for refusal in fields["refusals"])
        for name in ("order", "notes", "advice"):
            fields[name] = tuple(fields[name])
        return Survey(**fields)


@dataclass
class Examiner:
    """An implementation, what probing left of it, and the clauses it is held to.

    patience: seconds left for making counterexamples smaller.
    offers: what the target has under its conventions, whether or not it answers.
    witness: how it answered first. guard: what it is seen through where conventions are tried.
    inference: it is never asked for gradients, nor for the sake of a counterexample.
    """

    request: Request
    raw: Subject
    probed: Probed
    clauses: Mapping[str, Clause]
    patience: float
    offers: frozenset[Capability]
    witness: Witness
    guard: Guarded = unguarded
    inference: bool = False

    @staticmethod
    def of(
        target: Target,
        request: Request,
        clauses: Mapping[str, Clause],
        selected_only: bool = False,
        guard: Guarded = unguarded,
        known: Mapping[str, Any] | None = None,
    ) -> Examiner:
        """Load the target and probe it, unless what that finds is known. Raises Unsuitable.

        selected_only: the definition is not added to a selection of clauses. guard: what the
        target is seen through, under its conventions, where it is tried out.
        """
        raw = load(target, request)
        check_conventions(raw, request.conventions)
        kind = contract(raw.about)
        added = "" if selected_only else kind.definition
        chosen = concerning(clauses, request, raw.about, added)
        declared = kind.under(raw, request.conventions)
        seen = guard(declared)
        witness = Witness.of(seen)
        found = probed(seen) if known is None else Probed.from_json(seen, known)
        if not found.by_dtype:
            raise Unsuitable(f"{raw.name} answers no problem: {found.refusals[0].message}")
        patience = request.thoroughness.reduction
        return Examiner(request, raw, found, chosen, patience, declared.offers, witness, guard)

    def survey(self) -> Survey:
        """What is to be run, and what is settled without."""
        items, settled = [], []
        for dtype in self.raw.dtypes:
            for clause in self.clauses.values():
                verdict = self._unbound(clause, dtype)
                if verdict is None:
                    items.append((clause.number, dtype))
                else:
                    settled.append(verdict)
        return Survey(
            name=self.raw.name,
            about=self.raw.about,
            origin=self.raw.origin,
            conventions={**self.raw.chosen, **self.request.conventions},
            deviations=self.raw.deviations,
            order=tuple(self.clauses),
            items=tuple(items),
            settled=tuple(settled),
            refusals=self.probed.refusals,
            notes=(*self.probed.notes, *self.witness.changed("while it was probed")),
            advice=self._advice(),
            versions=versions(),
        )

    def verdict(self, number: str, dtype: str, grade: Grade) -> tuple[Verdict, Any]:
        """Run one clause in one dtype; with the problem that breaks it, if any does."""
        clause, implementation = self.clauses[number], self.probed.by_dtype[dtype]
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

    def _looks_like(self, clause: Clause, subject: Subject, problem: Any) -> tuple[str, ...]:
        """Known mistakes, if there is time to look for them."""
        if self.patience <= 0:
            return ()
        return contract(clause.about).looks_like(clause, subject, problem)

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
        return unrun(clause, dtype, "refused", _listed(lost)) if lost else None

    def _written(self, clause: Clause, dtype: str, finding: Finding) -> Verdict:
        outcome = "holds" if finding.violation is None else "violated"
        message = str(finding.violation) if finding.violation else finding.refusal
        if finding.violation and dtype == "float64" and self.probed.notes:
            message = f"{self.probed.notes[0]}: {message}"
        if not finding.examples and finding.violation is None:
            outcome = "refused"
        return Verdict(
            clause=clause.number,
            name=clause.name,
            force=clause.force,
            dtype=dtype,
            outcome=outcome,  # type: ignore[arg-type]
            examples=finding.examples,
            worst=finding.worst,
            refused=finding.refused,
            message=message,
            rounding=finding.rounding,
            coverage=finding.coverage,
            seconds=finding.seconds,
        )

    def _advice(self) -> tuple[str, ...]:
        """What conventions the implementation seems to follow, told from its most exact dtype."""
        dtype = next(iter(self.probed.by_dtype))
        narrowed = self.raw.but(answers=self.probed.by_dtype[dtype].answers)
        known = contract(self.raw.about)
        found = known.recognised(narrowed, dtype, self.request.conventions, self.guard)
        return tuple(advice(name, choice) for name, choice in found.items())


def explained(examiner: Examiner, verdict: Verdict, problem: Any) -> Verdict:
    """The verdict with its counterexample."""
    return replace(verdict, counterexample=examiner.counterexample(verdict, problem))


def _listed(capabilities: frozenset[Any]) -> str:
    return "; ".join(sorted(capability.value for capability in capabilities))
