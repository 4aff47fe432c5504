"""Clauses tested outside of the causes found so far, and their failures there.

Nearly always a clause fails because a single result is wrong. Then that result is explained, and
not the clause that used it.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from spec.certification.diagnosing.evidence import Evidence
from spec.certification.diagnosing.leads import Lead, how_it_breaks
from spec.certification.diagnosing.table import calls
from spec.certification.judging.bounds import Bounds
from spec.certification.judging.judging import judged
from spec.certification.judging.plan import Item
from spec.clause import Clause
from spec.domain import Scope
from spec.features import is_part
from spec.subject import Subject
from spec.trial import broken

Tried = tuple[bool, Any]  # whether an item holds outside, and what breaks it anywhere, if known


@dataclass(frozen=True)
class Outside:
    """The clauses, and the problems on which they are tested.

    evidence: of the target through lenses. first: without lenses. clauses: all of its kind by
    number. examples, seed: of the profile. bounds: outside of the causes.
    """

    evidence: Evidence
    first: Evidence
    clauses: Mapping[str, Clause]
    examples: int
    seed: int
    bounds: Bounds

    def breaks(self, item: Item) -> Any:
        """The first problem that breaks an item without causes or lenses; None if it passes."""
        clause, subject, scope = self._first(item)
        return judged(clause, subject, scope, examples=self.examples, seed=self.seed).problem

    def lead(self, item: Item) -> Lead | None:
        """The failure of an item here; None if it passes."""
        return self._lead(item, [])

    def broken(self, items: Sequence[Item], known: dict[Item, Any]) -> list[Item]:
        """The items from the first failing one on. known: gets a failing problem of each."""
        with closing(self.evidence.each(self._tried, items)) as outcomes:
            for place, (holds, problem) in enumerate(outcomes):
                known[items[place]] = known.get(items[place]) or problem
                if not holds:
                    return [*items[place:]]
        return []

    def _tried(self, item: Item) -> Tried:
        drawn: list[Any] = []
        holds = self._lead(item, drawn) is None
        clause, subject, _ = self._first(item)
        put = map(self.first.posed, drawn) if self.evidence.through_lens else drawn
        return holds, next((x for x in put if _breaks(clause, subject, x)), None)

    def _first(self, item: Item) -> tuple[Clause, Subject, Scope]:
        """The clause, the target without lenses, and the scope of its problems."""
        number, dtype = item
        clause, subject = self.clauses[number], self.first.subjects[dtype]
        return clause, self.first.bounds.over(subject), self.first.scope(clause, dtype)

    def _lead(self, item: Item, drawn: list[Any]) -> Lead | None:
        """The failure of an item. drawn: gets all problems that were drawn for it."""
        number, dtype = item
        clause, subject = self.clauses[number], self.evidence.subjects[dtype]
        if not clause.binds(subject):  # through a lens, as of what is always causal
            return None
        seen, scope = self.bounds.over(subject), self.evidence.scope(clause, dtype)

        def counts(problem: Any) -> bool:
            drawn.append(problem)
            return self.bounds.draws(problem, number)

        finding = judged(clause, seen, scope, examples=self.examples, seed=self.seed, drawn=counts)
        if finding.violation is None:
            return None
        wrong = self._wrong_call(clause, subject, finding.problem)
        how = how_it_breaks(finding.violation)
        return wrong or Lead((clause,), "", True, finding.problem, how)

    def _wrong_call(self, clause: Clause, subject: Subject, problem: Any) -> Lead | None:
        """A wrong result among the calls of the clause."""
        functions = self.evidence.kind.functions
        words = {name: functions.group(name) for name in functions.compares}
        made = [*calls(clause, subject, problem)]
        # What is wrong as a whole is what its parts are wrong for.
        for whole in sorted(words, key=lambda name: len(words[name])):
            numbers = functions.compares[whole]
            clauses = tuple(self.clauses[n] for n in numbers if n in self.clauses)
            for put in (put for name, put in made if is_part(functions.group(name), words[whole])):
                lead = Lead(clauses, words[whole], False, put, "")
                row = self.evidence.row(lead, put) if clauses else None
                if row is not None and row.how:
                    return replace(lead, how=row.how)
        return None


def _breaks(clause: Clause, subject: Subject, problem: Any) -> bool:
    """Whether a problem breaks it; False if it has no right answer, as it was drawn for another."""
    try:
        return broken(clause, subject, problem) is not None
    except ValueError:
        return False
