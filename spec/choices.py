"""Choices: what the problems of a domain are made of.

A problem is a sequence of choices among few values, and of seeds. Hypothesis makes them one at a
time, and then finds simpler ones by itself (`exploring`). Where nobody asks it to, one number
stands for all of them, and a problem is made in a third of the time.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol, TypeVar

from spec.stream import Stream

T = TypeVar("T")

SERIES = 64  # of problems whose steps are remembered


class Choices(Protocol):
    """Who chooses. The first of the values, and zeros, are the simplest choice."""

    def pick(self, values: Sequence[T]) -> T:
        """One of some values, each as likely as another."""

    def turn(self, values: Sequence[T]) -> T:
        """One of some values that come in turn: each once, before one comes again."""

    def vary(self, value: T, values: Sequence[T]) -> T:
        """What was picked, or another one in its place that has the same shapes and options."""

    def seed(self, bits: int = 32) -> int:
        """A number below 2^bits, to draw other numbers from."""

    def places(self, seed: int) -> int:
        """A seed, or another one in its place, of what settles shapes after all: where to cut."""

    def octets(self, count: int) -> bytes:
        """So many bytes."""


class Numbered:
    """The choices that a number stands for: zero for the simplest ones.

    shape: another number, for all that is picked: the same one for problems of the same shapes
    and options, and other numbers. turn: the place of the problem in a series, and the number of
    that, which settles in what order values come in turn; those are picked where there is none.
    """

    def __init__(
        self, number: int, shape: int | None = None, turn: tuple[int, int] | None = None
    ) -> None:
        self._random = Stream(number) if number else None
        self._picking = self._random if shape is None else Stream(shape) if shape else None
        self._turn = turn if shape is None else None
        self._turned: tuple[int, ...] = ()  # how many values came in turn, each time

    def pick(self, values: Sequence[T]) -> T:
        chance = self._picking  # not by `_below`: this is called most often
        return values[0 if chance is None else chance.below(len(values))]

    def turn(self, values: Sequence[T]) -> T:
        if self._turn is None:
            return self.pick(values)
        place, series = self._turn
        self._turned = (*self._turned, len(values))
        return values[place * _stride(series, self._turned) % len(values)]

    def vary(self, value: T, values: Sequence[T]) -> T:
        apart = self._picking is not self._random
        return values[_below(len(values), self._random)] if apart else value

    def seed(self, bits: int = 32) -> int:
        return _below(2**bits, self._random)

    def places(self, seed: int) -> int:
        return seed if self._picking is self._random else _below(2**32, self._picking)

    def octets(self, count: int) -> bytes:
        return bytes(count) if self._random is None else self._random.bytes(count)


def _below(end: int, chance: Stream | None) -> int:
    return 0 if chance is None else chance.below(end)


@lru_cache(SERIES)
def _stride(series: int, counts: tuple[int, ...]) -> int:
    """A step that leads through as many values as the last count says: no divisor in common.

    Another one for each axis of a series, so that not the same lengths always come together.
    """
    chance = Stream(series)
    for count in counts:
        stride = chance.choice([x for x in range(1, count + 1) if math.gcd(x, count) == 1])
    return stride
