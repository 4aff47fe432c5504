"""Choices: the sequence of decisions from which a domain makes a problem.

Each choice is one of a few values, or a seed. Hypothesis makes them one at a time, and can then
find simpler ones (`exploring`). Without Hypothesis, one number stands for all choices, and a
problem is drawn in a third of the time.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol, TypeVar

from spec.stream import Stream

T = TypeVar("T")

SERIES = 64  # of problems whose steps are cached


class Choices(Protocol):
    """A source of choices. The first of the values, and zeros, are the simplest choice."""

    def pick(self, values: Sequence[T]) -> T:
        """One of some values, all equally likely."""

    def turn(self, values: Sequence[T]) -> T:
        """One of some values that take turns: each comes once before one comes again."""

    def vary(self, value: T, values: Sequence[T]) -> T:
        """The picked value, or another one in its place with the same shapes and options."""

    def seed(self, bits: int = 32) -> int:
        """A number below 2^bits, from which other numbers are drawn."""

    def places(self, seed: int) -> int:
        """The seed, or another one in its place, for what still affects shapes: where to cut."""

    def octets(self, count: int) -> bytes:
        """`count` bytes."""


class Numbered:
    """The choices that a number stands for; zero stands for the simplest ones.

    shape: another number, which decides all that is picked: equal numbers give problems of equal
    shapes and options. turn: the index of the problem in a series, and the number of the series,
    which decides the order in which values take turns; without it they are picked.
    """

    def __init__(
        self, number: int, shape: int | None = None, turn: tuple[int, int] | None = None
    ) -> None:
        self._random = Stream(number) if number else None
        self._picking = self._random if shape is None else Stream(shape) if shape else None
        self._turn = turn if shape is None else None
        self._turned: tuple[int, ...] = ()  # the number of values, for each turn so far

    def pick(self, values: Sequence[T]) -> T:
        chance = self._picking  # not by `_below`, as this is called most
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
    """A step that reaches each of `counts[-1]` values: it has no divisor in common with them.

    Each axis of a series has its own step, so that not the same lengths always come together.
    """
    chance = Stream(series)
    for count in counts:
        stride = chance.choice([x for x in range(1, count + 1) if math.gcd(x, count) == 1])
    return stride
