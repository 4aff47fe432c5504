"""The description of causes: failing clauses, the smallest counterexample, and likely bugs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spec.alike import alike
from spec.certification.diagnosing.apiece import apiece
from spec.certification.diagnosing.besides import does_as
from spec.certification.diagnosing.evidence import Evidence
from spec.certification.diagnosing.experiments import with_numbers
from spec.certification.diagnosing.leads import DEPENDS, GOES, Found, Lead, Row, shows, typical
from spec.certification.diagnosing.likening import Likening
from spec.certification.diagnosing.memory import Alone, nobody, remembered
from spec.certification.diagnosing.overruled import declared_in
from spec.certification.diagnosing.search import Search
from spec.certification.explaining.script import MENDED, Again, script
from spec.certification.judging.bounds import Bounds
from spec.certification.judging.cause import Cause, with_changes
from spec.certification.judging.examiner import Examiner
from spec.certification.judging.plan import Item
from spec.certification.judging.verdict import Counterexample
from spec.certification.target.ward import Died
from spec.clause import Clause
from spec.comparison import Violation
from spec.trial import broken

AGAIN = 64  # times that a problem is put whose answer comes and goes
SMALLER = 600  # problems at most for making a counterexample smaller


@dataclass(frozen=True)
class Telling:
    """The data for the description of causes.

    evidence: of the target, without a lens. alone: the target before its first call.
    """

    examiner: Examiner
    search: Search
    evidence: Evidence
    alone: Alone

    def told(self, found: Found, place: int, met: Mapping[Item, Sequence[int]]) -> Cause:
        """The cause with its failing clauses and formats, and with its smallest counterexample.

        place: the position of the cause. met: the positions of the causes of each item.
        """
        items = [item for item, places in met.items() if place in places]
        numbers, dtypes = ({item[i]: None for item in items} for i in (0, 1))
        # Outside of other causes it may have been seen by whoever was asked in their search alone.
        clauses, formats = (*numbers,) or found.lead.numbers, (*dtypes,)
        formats = formats or (found.lead.problem.dtype,)
        cause = replace(found.cause, clauses=clauses, dtypes=formats)
        shown = self._shown(found, cause, place)
        if shown is None and found.seen is not None and found.seen.through_lens:
            shown = replace(self, evidence=found.seen)._shown(found, cause, place)
        return cause if shown is None else shown

    def _shown(self, found: Found, cause: Cause, place: int) -> Cause | None:
        """The cause with its smallest counterexample; None if there is none to be seen."""
        lead, done = self._smallest(found)
        times = AGAIN if cause.failure == GOES else 1
        broke = None if lead is None else self._broken(lead, times)
        if lead is None or broke is None:
            return None
        clause, violation = broke
        before, after = self._before(cause, clause, lead.problem)
        failure = cause.failure if cause.failure.startswith("is ") or not after else "is wrong"
        often = times if before is None else 1
        again = Again(before, often, isinstance(violation, Died))
        put = clause, lead.problem, str(violation), done
        example = self.examiner.shown(*put, again)
        if self.evidence.mended is not None:
            mended = with_changes([x.cause for x in self.search.found[:place]])
            example = self._mended(example, clause, violation, mended)
        choices = declared_in(cause.lens, self.examiner.recognised)
        if len(choices) > 1:
            each = tuple(apiece(self.examiner, clause, choices, found.others))
            example = replace(example, apiece=each)
        if not after:  # known bugs get each problem alone, so none is wrong only after another
            known = self._likening(found)
            example = replace(example, looks_like=known.told(example.problem, cause.clauses))
            cause = replace(cause, parts=known.parts)
        return replace(cause, failure=f"{failure}{after}", counterexample=example)

    def _mended(
        self, example: Counterexample, clause: Clause, violation: Violation, mended: str
    ) -> Counterexample:
        """A counterexample of the target seen through a lens. mended: which one, in words.

        A script calls the target as it is. That shows the same numbers only if a convention mends
        it, which changes the right ones, or if merely their form, a dtype say, is mended.
        """
        problem, message = example.problem, f"{mended}{violation}"
        example = replace(example, place=violation.place, compared=violation.whole)
        written = self._under(clause, violation, problem, message)
        return replace(example, message=message, script=written)

    def _under(self, clause: Clause, violation: Violation, problem: Any, message: str) -> str:
        """A script for a violation that is seen through a lens, or "" if there is none."""
        examiner, mended, dtype = self.examiner, self.evidence.mended, problem.dtype
        known = examiner.raw.chosen.items()
        choices = {**examiner.request.conventions, **dict(mended.chosen.items() - known)}
        request = replace(examiner.request, conventions=choices)
        seen = self.search.kind.conventions.under(examiner.raw, choices)
        if alike(violation, clause, examiner.guard(seen), problem):
            return script(clause, seen, request, problem, message)
        plain = broken(clause, examiner.probed.by_dtype[dtype], problem)
        if plain is None or plain.place is not None:
            return ""
        return script(clause, mended, examiner.request, problem, message, MENDED)

    def _broken(self, lead: Lead, times: int) -> tuple[Clause, Violation] | None:
        """The clause that a problem breaks within some tries, with the violation; else None."""
        tries = (self.evidence.failure(lead, lead.problem) for _ in range(times))
        return next(filter(None, tries), None)

    def _before(self, cause: Cause, clause: Clause, problem: Any) -> tuple[Any, str]:
        """The call after which the target is wrong, and its description, if there is one."""
        if self.alone is nobody and cause.failure == DEPENDS:  # as it was seen to (`unsteady`)
            return with_numbers(problem, 0), ""
        formats = (*self.evidence.subjects,)
        put = self.alone, self.search.kind.causes.twists, clause.number, problem, formats
        lens = cause.lens or self.evidence.through_lens
        known = None if lens else remembered(*put)
        return (None, "") if known is None else (known[0], f" after {known[1]}")

    def _smallest(self, found: Found) -> tuple[Lead | None, bool]:
        """The failure on a cause's smallest problem, and whether no way makes it smaller."""
        lead, evidence, belongs = found.lead, self.evidence, self._belonging(found)
        # Of what comes and goes, or is remembered, no others are known.
        known = found.others or [row.problem for row in evidence.draws(lead)]
        rows = (evidence.row(lead, problem) for problem in (lead.problem, *known))
        inside = (row for row in rows if row is not None and belongs(row))
        if (first := next(inside, None)) is None:
            return None, False
        usual = 0.0 if found.cause.failure == GOES else typical(evidence.draws(lead))
        start = next((row for row in (first, *inside) if shows(row, usual)), None)

        def keeps(row: Row) -> bool:
            return belongs(row) and (start is None or shows(row, usual))

        lead = replace(lead, problem=(start or first).problem)
        problem, _, done = evidence.way_down(lead, keeps, SMALLER, numbers=True)
        problem = problem.but(rounding=evidence.grades.get(problem.dtype, "strict"))
        problem = evidence.posed(problem) if evidence.through_lens else problem
        return replace(lead, problem=problem), done

    def _belonging(self, found: Found) -> Callable[[Row], bool]:
        """Whether a row fails as a cause says, and for this cause alone."""
        lead, evidence, besides = found.lead, self.evidence, found.cause.besides
        beside = [x.cause for x in self.search.found if x is not found and not besides]
        beside = [x for x in beside if not (x.lens and evidence.through_lens)]
        kind, both = self.search.kind, ([found.cause], beside)
        alone, others = (Bounds.of(kind, "", causes) for causes in both)
        goes = found.cause.failure == GOES  # and then no problem is outside of it

        def belongs(row: Row) -> bool:
            inside = goes or not lead.within(alone, row.problem)
            inside = inside and row.how == lead.how and lead.within(others, row.problem)
            return inside and not (besides and does_as(evidence, lead, besides, row.problem))

        return belongs

    def _likening(self, found: Found) -> Likening:
        """What known bugs are compared with, for a cause."""
        raw, seen = self.examiner.raw, self.evidence.mended
        chosen = seen.chosen if seen else {**raw.chosen, **self.examiner.request.conventions}
        own = [{name: x} for name, x in chosen.items() if x != raw.defaults.get(name, x)]
        return Likening(self.search, self.evidence, found, own)
