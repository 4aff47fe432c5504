"""Rows that are compared, as arrays; and the calls of a clause."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from spec.certification.diagnosing.leads import Row
from spec.certification.diagnosing.separating import Columns, Split, best, shorter, worth
from spec.clause import Clause
from spec.notation import Array
from spec.subject import Subject
from spec.trial import asked
from spec.written import sizes

ENOUGH = 0.6  # of the worth of the best description of a part, to do with one for all
PARTED = 1.5  # times the worth of one set is that of two, if these are two causes; and so on
CLEAR = 0.85  # of what lies inside is wrong: then one for all is good enough
COVERED = 0.99  # the share of what is wrong that one cause for all has to cover, or several
EXPLAINED = 0.8  # of what more causes explain: then fewer do, if they are clear
NEARLY = 0.95  # of it: then fewer do, however much of what lies inside is right
MAINLY = 0.65  # of what lies inside is wrong: then one of several is good enough
TRIED = (8, 64)  # conjunctions, for what they leave to another one: at first, or if need be


@dataclass(frozen=True)
class Table:
    """Rows as arrays: the features (rows, columns), which are wrong, and how much each counts.

    prices: (columns,), the price of naming a feature.
    """

    said: Array
    wrong: Array
    weight: Array
    rows: Sequence[Row]
    prices: Array

    @staticmethod
    def of(rows: Sequence[Row], prices: Array) -> "Table":
        """The table of some rows."""
        said, weight = np.array([row.said for row in rows]), np.array([row.weight for row in rows])
        return Table(said, np.array([row.how != "" for row in rows]), weight, rows, prices)

    def inside(self, split: Split) -> Array:
        """Which rows have all features of a conjunction."""
        return np.asarray(self.said[:, list(split.columns)].all(axis=1))

    def within(self, split: Split) -> list[Row]:
        """The rows that have all of them."""
        return [row for row, x in zip(self.rows, self.inside(split), strict=True) if x]

    def outside(self, split: Split) -> "Table":
        """The table of the other rows."""
        left = ~self.inside(split)
        rows = [row for row, x in zip(self.rows, left, strict=True) if x]
        return Table(self.said[left], self.wrong[left], self.weight[left], rows, self.prices)

    def worth(self, columns: Columns) -> Split:
        """The worth of a given conjunction."""
        return worth(columns, self.said, self.wrong, self.weight, self.prices)

    def best(self, having: Array | None = None) -> Split:
        """The conjunction that is worth most, of the features that `having` allows, or of all."""
        allowed = np.full(len(self.prices), True) if having is None else having
        return best(self.said, self.wrong, self.weight, self.prices, allowed)[0]

    def shared(self, having: Any = True) -> Split:
        """The best of the conjunctions that hold for nearly all failures."""
        common = np.asarray(self.said[self.wrong].mean(axis=0) > COVERED)
        return self.best(common & having)

    def first(self, having: Array, tried: int = TRIED[0]) -> Split:
        """The conjunction that is worth most together with the best one for the rest."""
        found = best(self.said, self.wrong, self.weight, self.prices, having, tried)
        rest = (self.outside(split).best() for split in found)
        worth = [one.worth + other.worth for one, other in zip(found, rest, strict=True)]
        return found[int(np.argmax(worth))]

    def parted(self, every: Sequence[Columns]) -> float:
        """The worth of conjunctions one after another, and of the best one for the rest."""
        worth, left = 0.0, self
        for columns in every:
            split = left.worth(columns)
            worth, left = worth + split.worth, left.outside(split)
        return worth + left.best().worth

    def does(self, split: Split, best: Split) -> bool:
        """Whether a conjunction is worth nearly as much as the best one, or is clear."""
        return split.worth >= ENOUGH * best.worth or self.share(split) > CLEAR

    def is_one(self, one: Split, best: Split, firsts: Sequence[Columns]) -> bool:
        """Whether one for all is clear, or is enough compared with some and the best one."""
        if self.share(one) > CLEAR:
            return True
        few = PARTED ** len(firsts) * one.worth
        return one.worth >= ENOUGH * best.worth and self.parted(firsts) < few

    def says_enough(self, one: Split, known: Columns) -> bool:
        """Whether one conjunction explains nearly as much as a known and the next best one."""
        return one.worth > max(EXPLAINED * self.parted([known]), 0.0)

    def told(self, known: Sequence[Columns]) -> Sequence[tuple[Split, "Table"]]:
        """The fewest conjunctions that contain nearly all failures, and little else.

        At least two are looked for. Of these, only those are returned that have failures which the
        others do not explain, each with the rows that the others leave. Empty if it takes more than
        the known ones, or if these and another one explain far more.
        """
        if len(known) < 2:
            return ()
        counts = itertools.product(range(2, len(known) + 1), TRIED, (False, True))
        ways = ([*self._covered(*count)] for count in counts)
        most = self.parted(known)
        told = [split for split, _ in next((x for x in ways if self._is_told(x, most)), ())]
        others = ([x for x in told if x is not split] for split in told)
        alone = [reduce(Table.outside, left, self) for left in others]
        every = zip(told, alone, strict=True)
        return [(split, table) for split, table in every if table.wrong[table.inside(split)].any()]

    def _covered(self, count: int, tried: int, short: bool) -> Iterator[tuple[Split, "Table"]]:
        """Yield so many conjunctions, each the best for the rows that the earlier ones leave.

        The last of them is one that holds for nearly all failures left. tried: how many candidates
        there are for each of the others. short: each is shortened before the rows that it leaves
        are looked at.
        """
        left, every = self, np.full(len(self.prices), True)
        for place in range(1, count + 1):
            last = place == count and bool(left.wrong.any())
            split = left.shared() if last else left.first(every, tried)
            split = left.shorter(split) if short else split
            yield split, left
            left = left.outside(split)

    def _is_told(self, way: Sequence[tuple[Split, "Table"]], most: float) -> bool:
        """Whether so few are enough. most: the worth of the known ones and another one."""
        split, table = way[-1]
        left = table.outside(split)
        least = (1 - COVERED) * float(self.weight @ self.wrong)
        clear = all(table.share(split) > MAINLY for split, table in way)
        explained = most * (EXPLAINED if clear else NEARLY)
        every = float(left.weight @ left.wrong) < least
        every &= all(split.columns for split, _ in way)  # no condition at all says nothing
        return every and sum(split.worth for split, _ in way) > explained

    def shorter(self, split: Split) -> Split:
        """A conjunction without features that exclude hardly any passing row."""
        return Split(shorter(split.columns, self.said, self.wrong, self.weight), split.worth)

    def share(self, split: Split) -> float:
        """The share of failing rows inside."""
        weight = self.weight * self.inside(split)
        return float((weight * self.wrong).sum() / max(weight.sum(), 1e-9))


def empty(problem: Any) -> bool:
    """Whether an axis has length zero, so that little can be wrong."""
    return 0 in sizes(problem).values()


def distinct(rows: Sequence[Row]) -> list[Row]:
    """The rows, each set of features with the same outcome once."""
    found = {(row.asked, row.said.tobytes(), row.how): row for row in rows}
    return [*found.values()]


def calls(clause: Clause, subject: Subject, problem: Any) -> Iterator[tuple[str, Any]]:
    """Yield the functions that a clause calls for a problem, with their arguments."""
    made = asked(clause, subject, problem)
    yield from dict.fromkeys((name, put) for name, put, _ in made)  # most are put to several steps
