"""The data of a search: a failure that is examined, and problems as rows of a table."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spec.alike import of_its_size
from spec.certification.judging.bounds import Bounds
from spec.certification.judging.cause import NUMBERS, RAISES, Cause
from spec.clause import Clause
from spec.comparison import Violation
from spec.features import Vocabulary, is_part
from spec.notation import Array
from spec.noticed import looked
from spec.trial import REFUSED

BROKEN, IN_BITS = "is broken", "is broken in the last bits"
GOES = "a result changes from call to call"
DEPENDS = "a result depends on earlier calls"
LITTLE = 0.01  # of a number: a last bit of bfloat16


@dataclass(frozen=True)
class Lead:
    """A failure that is examined.

    clauses: those that show it; the problem is wrong if it breaks any of them. asked: the function
    that is wrong, in words. drawn: no single result is wrong, but a clause fails. problem, how: the
    problem, and how it fails.
    """

    clauses: tuple[Clause, ...]
    asked: str
    drawn: bool
    problem: Any
    how: str

    def within(self, bounds: Bounds, problem: Any) -> bool:
        """Whether a problem with this failure lies within bounds."""
        if self.drawn:
            return bounds.draws(problem, self.clauses[0].number)
        return bounds.has(problem, self.asked)

    def is_kin(self, other: "Lead") -> bool:
        """Whether the other is about the same function, or about one that this is a part of."""
        return bool(other.word or not self.word) and is_part(self.word, other.word)

    def cause(self, features: tuple[str, ...], problems: tuple[int, int], lens: str) -> Cause:
        """A cause with this failure."""
        return Cause(
            features=features,
            asked=self.asked,
            failure=self.how,
            drawn=self.drawn,
            clauses=self.numbers,
            beside=self.numbers if self.drawn else (),
            problems=problems,
            lens=lens,
        )

    @property
    def word(self) -> str:
        """The function, or else the clause."""
        return self.clauses[0].number if self.drawn else self.asked

    @property
    def in_bits(self) -> bool:
        """Whether only the last bits are wrong."""
        return self.how == IN_BITS

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numbers of the clauses."""
        return tuple(clause.number for clause in self.clauses)

    @property
    def key(self) -> str:
        """The function and the clauses; rows with other clauses are not compared."""
        return " ".join([self.word, *self.numbers])


@dataclass(frozen=True)
class Row:
    """A problem, and how its result is wrong; "" if it is right.

    said: which features it has. weight: how much it counts: problems made from one another count
    less than drawn ones. off: the error of the worst number, infinite if the failure is none of
    numbers.
    """

    problem: Any
    how: str
    asked: str
    said: Array = field(repr=False)
    weight: float = 1.0
    off: float = np.inf


@dataclass(frozen=True)
class Found:
    """A cause, its first failure, on a smaller problem, and others like it.

    line: about its known bug, if it was found together with another one. seen: the evidence through
    the lenses with which it was found.
    """

    cause: Cause
    lead: Lead
    others: tuple[Any, ...] = ()
    line: str = ""
    seen: Any = None

    def within(self, cause: Cause) -> bool:
        """Whether another cause, with fewer features, contains all of this.

        A wrong output makes all wrong that depends on it, and a wrong result its parts.
        """
        known = self.cause
        said = {*known.features} >= {*cause.features} and not (cause.drawn or known.lens)
        if known.asked == cause.asked:
            return said and known.failure == cause.failure
        return said and is_part(known.asked, cause.asked)


def usual(lead: Lead, wrong: Sequence[Row]) -> Lead:
    """The failure in its most frequent form: a result that is NaN at times is wrong."""
    count = Counter(row.how for row in wrong)
    if not wrong or 2 * count[lead.how] >= len(wrong):
        return lead
    how = count.most_common(1)[0][0]
    return replace(lead, how=how, problem=next(row.problem for row in wrong if row.how == how))


def widened(rows: Iterable[Row], features: Vocabulary) -> list[Row]:
    """Rows with the features that were added after they were made."""
    width, found = len(features.candidates()), []
    for row in rows:
        new = features.noticed[len(features.noticed) + len(row.said) - width :]
        said = [*row.said, *looked(row.problem, new)]
        found.append(replace(row, said=np.array(said)))
    return found


def alike(one: str, other: str) -> bool:
    """Whether two failures may have one cause: both by numbers, or with the same words."""
    return one == other or {one, other} <= {*NUMBERS} or {one, other} <= {BROKEN, IN_BITS}


def how_it_breaks(violation: Violation) -> str:
    """How a clause fails if no single result is wrong: perhaps only by the last bits."""
    place = violation.place
    if place is None or place.budget:
        return BROKEN
    return IN_BITS if abs(place.got - place.want) <= LITTLE * abs(place.want) else BROKEN


def how_it_fails(violation: Violation) -> str:
    """The kind of a failure; NaN and overflow are kinds of their own."""
    place = violation.place
    if place is None:
        text = str(violation)
        return RAISES if text.startswith(REFUSED) else text.split(":")[0]
    if np.isnan(place.got) and not np.isnan(place.want):
        return "is NaN"
    return "is infinite" if np.isinf(place.got) and np.isfinite(place.want) else "is wrong"


def off_by(violation: Violation) -> float:
    """The error of the worst number; infinite if the failure is none of numbers."""
    place = violation.place
    error = np.nan if place is None else abs(place.got - place.want)
    return float(np.inf if np.isnan(error) else error)


def typical(rows: Sequence[Row]) -> float:
    """The median error of the rows with wrong numbers; 0 if there are none."""
    errors = [row.off for row in rows if row.how and np.isfinite(row.off)]
    return float(np.median(errors)) if errors else 0.0


def shows(row: Row, usual: float) -> bool:
    """Whether the error of a row is not negligible, compared with the usual one.

    Only such a row is an example, and known bugs are compared on such rows. Where the right
    gradient is an exact zero, as for a single key, all that a forgotten factor changes is what
    rounding has left.
    """
    return row.off > of_its_size(row.problem.dtype) * usual
