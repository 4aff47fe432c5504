"""Problems with right or wrong results, and the features of each.

They have three sources: problems drawn from the domain of the definition; problems met on the way
to a smaller counterexample; and experiments, which change one thing in a failing problem: an
option, the format, the length of an axis. The last two show the condition of a rare fault, which
few drawn problems meet.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from spec.certification.diagnosing.experiments import changed, in_time, no_larger, of_lengths
from spec.certification.diagnosing.leads import Lead, Row, how_it_breaks, how_it_fails, off_by
from spec.certification.each import Each, one_by_one
from spec.certification.explaining.reduction import smallest
from spec.certification.judging.bounds import Bounds
from spec.certification.judging.cause import Cause
from spec.certification.judging.drawing import series
from spec.certification.judging.judging import scope_for
from spec.clause import Clause
from spec.comparison import Violation
from spec.domain import Scope
from spec.features import Vocabulary
from spec.kind import Kind
from spec.notation import Grade
from spec.sizes import Reach
from spec.subject import Refused, Subject
from spec.trial import broken, tried

FEW = (1, 2, 7, 64, 129)  # lengths: small ones, an odd one, a multiple and a long one
ANOTHER = 0x5EED  # a seed: problems are not those that clauses were judged on
MADE = 0.3


class Evidence:
    """The known results of a target, format by format.

    subjects: the target by format. grades: the granted rounding models. bounds: the problems on
    which it is judged. count: problems drawn in a format. each: runs a function on many things.
    """

    def __init__(
        self,
        kind: Kind,
        subjects: Mapping[str, Subject],
        grades: Mapping[str, Grade],
        bounds: Bounds,
        count: int,
        reach: Reach,
        each: Each = one_by_one,
    ) -> None:
        self.kind, self.subjects, self.grades = kind, subjects, grades
        self.bounds, self.count, self.reach, self.each = bounds, count, reach, each
        self.truth = kind.truth()
        self.use(kind.features)
        self.mended: Any = None  # the record seen through a lens
        self.drawn: dict[tuple[str, ...], list[Row]] = {}
        self.problems: dict[tuple[Any, ...], list[Any]] = {}

    def through(
        self, raw: Any, subjects: Mapping[str, Subject], grades: Mapping[str, Grade]
    ) -> "Evidence":
        """The evidence through a lens, with the same problems and as yet no results."""
        how = self.bounds, self.count, self.reach, self.each
        seen = Evidence(self.kind, subjects, grades, *how)
        seen.problems, seen.mended = self.problems, raw
        seen.use(self.features)
        return seen

    def graded(self, grades: Mapping[str, Grade]) -> "Evidence":
        """The evidence with other rounding models, as yet without results."""
        return self.through(self.mended, self.subjects, grades)

    @property
    def through_lens(self) -> bool:
        """Whether a lens changes the target."""
        return self.mended is not None

    def notice(self, problem: Any) -> None:
        """Add the sizes of a problem to the features."""
        self.use(self.features.noticing(problem))

    def use(self, features: Vocabulary) -> None:
        """Set the features of problems, and the price of each."""
        candidates = features.candidates()
        self.features, self.names = features, [*candidates]
        self.prices = np.array([*candidates.values()])

    def scope(self, clause: Clause, dtype: str) -> Scope:
        """The scope of problems for a clause."""
        grade = self.grades.get(dtype, "strict")
        return scope_for(clause, self.subjects[dtype], dtype, grade, self.reach)

    def named(self, columns: Sequence[int]) -> tuple[str, ...]:
        """The features of some columns."""
        return tuple(self.names[i] for i in columns)

    def columns(self, cause: Cause) -> tuple[int, ...]:
        """The columns of the features of a cause."""
        return tuple(map(self.names.index, cause.features))

    def asking(self, lead: Lead, problem: Any) -> list[Clause]:
        """The clauses of a lead that the target supports on a problem."""
        subject = self.subjects[problem.dtype]
        kinds = subject.kinds_of(problem)
        bound = (clause for clause in lead.clauses if clause.binds(subject))
        return [clause for clause in bound if kinds <= self.scope(clause, problem.dtype).answers]

    def violation(self, clauses: Sequence[Clause], problem: Any) -> tuple[Clause, Violation] | None:
        """The first clause that a problem breaks, with the violation; None if all pass.

        Raises Refused if no clause fails, and the target refused one.
        """
        grade = self.grades.get(problem.dtype, "strict")
        if problem.rounding != grade:  # what is known of a problem is kept, as long as it is that
            problem = problem.but(rounding=grade)
        outcomes = [True]
        for clause in clauses:
            found, answered = tried(clause, self.subjects[problem.dtype], problem)
            if found is not None:
                return clause, found
            outcomes.append(answered)
        if not all(outcomes):
            raise Refused(f"{clauses[0].number} is not answered")
        return None

    def posed(self, problem: Any) -> Any:
        """A problem as this target gets it, with the target's choices, as an alignment."""
        return self.kind.functions.fitted(self.subjects[problem.dtype], problem)

    def failure(self, lead: Lead, problem: Any) -> tuple[Clause, Violation] | None:
        """The clause of a lead that a problem breaks, with the violation; else None."""
        try:
            return self.violation(self.asking(lead, problem), problem)
        except Refused:
            return None

    def row(self, lead: Lead, problem: Any, drawn: bool = False) -> Row | None:
        """A problem as a row; None if it is refused, or has no right answer.

        drawn: it is from the domain of the first clause, and so has a right answer.
        """
        try:
            # What is computed of what is put is not kept: of large problems it is gigabytes.
            put = self.posed(problem) if self.through_lens else problem.but()
            clauses = self.asking(lead, put)
            if not clauses or not self.bounds.has(put, lead.asked):
                return None
            found = self.violation(clauses, put)
            known = drawn and found is not None and found[0] is lead.clauses[0]
            if found is not None and not known and broken(found[0], self.truth, put):
                return None
            fails = how_it_breaks if lead.drawn else how_it_fails
            how = "" if found is None else fails(found[1])
            row = self.said(replace(lead, problem=put), how)
            return replace(row, problem=problem, off=np.inf if found is None else off_by(found[1]))
        except Exception:
            return None

    def said(self, lead: Lead, how: str) -> Row:
        """The row of a lead's problem, with its features and how it fails."""
        return Row(lead.problem, how, lead.key, np.array(self.features.said(lead.problem)))

    def draws(self, lead: Lead) -> list[Row]:
        """Rows of problems drawn in each format from the domain of a lead's first clause."""
        if (key := lead.numbers) not in self.drawn:
            first, formats = lead.clauses[0], self.subjects.items()
            bound = [dtype for dtype, subject in formats if first.binds(subject)]
            found = [problem for dtype in bound for problem in self._put(first, dtype)]
            self.drawn[key] = self.rows(lead, found, drawn=True)
        return self.drawn[key]

    def failing(self, lead: Lead, bounds: Bounds) -> list[Lead]:
        """The failures within bounds, among the problems that were drawn for a lead."""
        wrong = (row for row in self.drawn.get(lead.numbers, ()) if row.how)
        found = (replace(lead, problem=row.problem, how=row.how) for row in wrong)
        return [one for one in found if one.within(bounds, one.problem)]

    def rows(self, lead: Lead, problems: Sequence[Any], drawn: bool = False) -> list[Row]:
        """The rows of problems, without those that are refused."""

        def told(problem: Any) -> tuple[str, Any, float] | None:
            row = self.row(lead, problem, drawn)
            return None if row is None else (row.how, row.said, row.off)

        with closing(self.each(told, problems)) as answers:
            pairs = [(x, told) for x, told in zip(problems, answers, strict=True) if told]
        return [Row(x, how, lead.key, said, off=off) for x, (how, said, off) in pairs]

    def _put(self, clause: Clause, dtype: str) -> list[Any]:
        """Problems drawn in a format from the domain of a clause."""
        scope = self.scope(clause, dtype)
        key = (clause.number, dtype, scope.answers, *sorted(scope.conventions.items()))
        if key not in self.problems:
            self.problems[key] = [*series(clause, scope, self.count, ANOTHER)]
        return self.problems[key]

    def neighbours(self, lead: Lead, problem: Any, lengths: Sequence[int]) -> list[Row]:
        """A problem with one thing changed, in every way, and with these lengths.

        A target that compiles for each shape first gets few lengths of each axis, and the others
        only if the results for these differ.
        """
        sampled = any(subject.palette for subject in self.subjects.values())
        few = [x for x in FEW if x in lengths] if sampled else lengths
        others = changed(self.kind.causes.twists, problem, (*self.subjects,), few)
        rows = self.rows(lead, [*others])
        for letter in problem.letters if sampled else "":
            size = problem.length(letter)
            along = {row.how for row in rows if row.problem.length(letter) not in (0, size)}
            if along - {lead.how}:
                more = of_lengths(problem, letter, [x for x in lengths if x not in FEW])
                rows += self.rows(lead, [*no_larger(problem, more)])
        return [replace(row, weight=MADE) for row in rows]

    def way_down(
        self, lead: Lead, accepts: Callable[[Row], bool], most: int, numbers: bool = False
    ) -> tuple[Any, list[Row], bool]:
        """A smaller problem, the rows met on the way, and whether no way makes it smaller.

        accepts: whether to continue from a row. most: the largest number of problems to test.
        numbers: whether numbers are made simpler, too.
        """
        met: list[Row] = []
        asked, most = 0, in_time(lead.problem, most)

        def fails(candidate: Any) -> bool:
            nonlocal asked
            asked += 1
            row = self.row(lead, candidate) if asked <= most else None
            if row is None:
                return False
            met.append(replace(row, weight=MADE))
            return accepts(row)

        ways = self.kind.simplify if numbers else self.kind.simplify[:-1]
        problem, _ = smallest(lead.problem, fails, ways)
        return problem, met, asked <= most
