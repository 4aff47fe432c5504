"""Known bugs that fail exactly where the target does: what a cause looks like."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from spec.alike import same
from spec.certification.diagnosing.evidence import Evidence
from spec.certification.diagnosing.experiments import in_format
from spec.certification.diagnosing.leads import Found, Row, shows, typical
from spec.certification.diagnosing.search import Search
from spec.certification.judging.bounds import Bounds
from spec.certification.judging.cause import NUMBERS
from spec.clause import Clause
from spec.comparison import Violation
from spec.laws import CLAUSES
from spec.trial import broken

ALIKE = 6  # problems of either sort that a known mistake has to answer as the target does
CLOSER = 24  # of either sort that tell which of several known mistakes does most as the target
ELSE = "float32"  # the format in which known mistakes are tried that have not the target's


class Likening:
    """The failures of one cause, and right results, with which known bugs are compared.

    chosen: the target's choices that are not the default of its own kind, each alone. Problems and
    failures are kept, as all known bugs are compared on the same ones.
    """

    def __init__(
        self, search: Search, evidence: Evidence, found: Found, chosen: Sequence[Mapping[str, str]]
    ) -> None:
        self.evidence, self.lead, self.kind = evidence, found.lead, search.kind
        self.chosen, self.line = chosen, found.line
        rows = evidence.draws(found.lead)
        wrong, usual = _wrong(search, evidence, found, rows), typical(rows)
        bad = ([row for row in wrong if shows(row, usual)] or wrong)[:CLOSER]
        self.rows = [*bad, *[row for row in rows if not row.how][:CLOSER]]
        self.bad, self.right = range(len(bad)), range(len(bad), len(self.rows))
        self.clauses = {clause.number: clause for clause in found.lead.clauses}
        self.failure, self.put = cache(self._failure), cache(self._put)

    @property
    def parts(self) -> tuple[str, ...]:
        """Which of several results are wrong, by name; empty if all are, or they have no names."""
        functions = self.kind.functions
        names = functions.parts
        if self.lead.how not in NUMBERS or not names.keys() >= self.clauses.keys():
            return ()
        off = [number for number in self.clauses if any(self._breaks(number, x) for x in self.bad)]
        every = (*off,) in functions.compares.values()
        return tuple(names[number] for number in off if not every)

    def _breaks(self, number: str, place: int) -> bool:
        """Whether the target breaks a clause on a row."""
        alone = replace(self.lead, clauses=(self.clauses[number],))
        return self.evidence.failure(alone, self.rows[place].problem) is not None

    def told(self, problem: Any, numbers: Sequence[str]) -> tuple[str, ...]:
        """A line for each known bug that explains the failure on a problem, and fits the others.

        numbers: of all clauses that fail for the cause.
        """
        if self.line:
            return (self.line,)
        subject = self.evidence.subjects[problem.dtype]
        clauses = [self.lead.clauses[0], *(CLAUSES[number] for number in numbers)]
        return self.kind.looks_like(clauses, subject, problem, self.fits)

    def fits(self, known: Any) -> float:
        """On how many rows, as a share, the record of a known bug does as the target.

        Under a declared convention as well: what is right there need not be so by default.
        """
        under = self.kind.conventions.under
        return max(map(self._agreement, [known, *(under(known, x) for x in self.chosen)]))

    def _agreement(self, known: Any) -> float:
        """The same of one record; 0 if it is not wrong on the rows that are, or on any others.

        And by the same numbers, on half of them: where the target has another fault besides, these
        are others.
        """

        @cache
        def broke(number: str, place: int) -> Violation | None:
            clause, problem = self.clauses[number], self.put(place, known.dtypes)
            return broken(clause, known, problem) if clause.binds(known) else None

        def wrong(place: int) -> bool:
            return any(broke(number, place) for number in self.clauses)

        def alike(place: int) -> bool:
            failure = self.failure(place)
            try:
                found = failure and broke(failure[0].number, place)
            except Exception:
                return False
            return bool(failure and same(failure[1], found, self.put(place, known.dtypes).dtype))

        few = self.bad[:ALIKE]
        if not all(map(wrong, few)) or any(map(wrong, self.right[:ALIKE])):
            return 0.0
        if 2 * sum(map(alike, few)) < len(few):
            return 0.0
        agreeing = sum(map(alike, self.bad)) + sum(not wrong(place) for place in self.right)
        return (1 + agreeing) / (1 + len(self.rows))

    def _failure(self, place: int) -> tuple[Clause, Violation] | None:
        """How the target fails on a row."""
        return self.evidence.failure(self.lead, self.rows[place].problem)

    def _put(self, place: int, dtypes: tuple[str, ...]) -> Any:
        """The problem of a row in one of the formats of a known bug."""
        problem = self.rows[place].problem
        if problem.dtype not in dtypes:
            problem = in_format(problem, ELSE)
        return problem.but(rounding=self.evidence.grades.get(problem.dtype, "strict"))


def _wrong(search: Search, evidence: Evidence, found: Found, rows: Sequence[Row]) -> list[Row]:
    """The rows that fail for this cause, and as far as there are such, for this one alone."""
    lead, kind = found.lead, search.kind
    alone = Bounds.of(kind, "", [found.cause])
    others = Bounds.of(kind, "", [x.cause for x in search.found if x is not found])
    every = [r for r in rows if r.how and not lead.within(alone, r.problem)]
    wrong = [r for r in every if lead.within(others, r.problem)]
    if wrong:
        return wrong
    # Of a rare failure all that is known was made from one problem.
    made = (evidence.row(lead, problem) for problem in found.others[:CLOSER])
    failing = [r for r in made if r is not None and r.how]
    # Problems that are wrong for another cause as well have other numbers.
    return [r for r in failing if lead.within(others, r.problem)] or every or failing
