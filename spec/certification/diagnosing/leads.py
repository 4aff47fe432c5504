"""What a search goes by: a failure that is looked into, and problems as rows of a table."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spec.certification.judging.bounds import Bounds
from spec.certification.judging.cause import NUMBERS, RAISES, Cause
from spec.clause import Clause
from spec.comparison import Violation
from spec.features import Vocabulary, is_part
from spec.notation import Array
from spec.trial import REFUSED

BROKEN, IN_BITS = "is broken", "is broken in the last bits"
GOES = "a result changes from call to call"
DEPENDS = "a result depends on earlier calls"
LITTLE = 0.01  # of a number: a last bit of bfloat16


@dataclass(frozen=True)
class Lead:
    """A failure that is looked into.

    clauses: who can see it; if any is broken by a problem, that is wrong. asked: the function
    that is wrong, in words; drawn: none is, by itself. problem, how: where it was seen, and how.
    """

    clauses: tuple[Clause, ...]
    asked: str
    drawn: bool
    problem: Any
    how: str

    def within(self, bounds: Bounds, problem: Any) -> bool:
        """Whether bounds leave in what the failure would be on a problem."""
        if self.drawn:
            return bounds.draws(problem, self.clauses[0].number)
        return bounds.has(problem, self.asked)

    def is_kin(self, other: "Lead") -> bool:
        """Whether the other is about the same function, or what this one is a part of."""
        return bool(other.word or not self.word) and is_part(self.word, other.word)

    def cause(self, features: tuple[str, ...], problems: tuple[int, int], lens: str) -> Cause:
        """A cause of which this is one failure."""
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
        """What is asked, or the clause that is."""
        return self.clauses[0].number if self.drawn else self.asked

    @property
    def in_bits(self) -> bool:
        """Whether the last bits alone are wrong."""
        return self.how == IN_BITS

    @property
    def numbers(self) -> tuple[str, ...]:
        """Those of the clauses."""
        return tuple(clause.number for clause in self.clauses)

    @property
    def key(self) -> str:
        """The word, and who sees it: rows that others see are not compared."""
        return " ".join([self.word, *self.numbers])


@dataclass(frozen=True)
class Row:
    """A problem, and how it is answered wrong; "" if it is not.

    said: which features it has. weight: how much it counts, as those that were made from one
    another tell less than those that were drawn.
    """

    problem: Any
    how: str
    asked: str
    said: Array = field(repr=False)
    weight: float = 1.0


@dataclass(frozen=True)
class Found:
    """A cause, the failure that it was found by, on a smaller problem, and others like it.

    line: about the known mistake that it is, where that was seen together with another. seen: the
    evidence of the target through what mends other causes, where it was found.
    """

    cause: Cause
    lead: Lead
    others: tuple[Any, ...] = ()
    line: str = ""
    seen: Any = None

    def within(self, cause: Cause) -> bool:
        """Whether all that was found is said by another cause, which has fewer features.

        Where the output is wrong, so is what follows from it; and so are parts of what is.
        """
        known = self.cause
        said = {*known.features} >= {*cause.features} and not (cause.drawn or known.lens)
        if known.asked == cause.asked:
            return said and known.failure == cause.failure
        return said and is_part(known.asked, cause.asked)


def usual(lead: Lead, wrong: Sequence[Row]) -> Lead:
    """The failure as most of what is wrong fails: what is NaN now and then is wrong."""
    count = Counter(row.how for row in wrong)
    if not wrong or 2 * count[lead.how] >= len(wrong):
        return lead
    how = count.most_common(1)[0][0]
    return replace(lead, how=how, problem=next(row.problem for row in wrong if row.how == how))


def widened(rows: Iterable[Row], features: Vocabulary) -> list[Row]:
    """Rows, with what is asked for by now and was not when they were made."""
    width, found = len(features.candidates()), []
    for row in rows:
        new = features.noticed[len(features.noticed) + len(row.said) - width :]
        said = [*row.said, *features.looked(row.problem, new)]
        found.append(replace(row, said=np.array(said)))
    return found


def alike(one: str, other: str) -> bool:
    """Whether two ways to fail may have one cause: by their numbers, or in the same words."""
    return one == other or {one, other} <= {*NUMBERS} or {one, other} <= {BROKEN, IN_BITS}


def how_it_breaks(violation: Violation) -> str:
    """How a clause is broken where no answer is wrong: perhaps by the last bits alone."""
    place = violation.place
    if place is None or place.budget:
        return BROKEN
    return IN_BITS if abs(place.got - place.want) <= LITTLE * abs(place.want) else BROKEN


def how_it_fails(violation: Violation) -> str:
    """The kind of failure: what is no number, or too large, is not merely off."""
    place = violation.place
    if place is None:
        text = str(violation)
        return RAISES if text.startswith(REFUSED) else text.split(":")[0]
    if np.isnan(place.got) and not np.isnan(place.want):
        return "is NaN"
    return "is infinite" if np.isinf(place.got) and np.isfinite(place.want) else "is wrong"
