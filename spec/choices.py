"""Choices: what the problems of a domain are made of.

A problem is a sequence of choices among few values, and of seeds. Hypothesis makes them one at a
time, and then finds simpler ones by itself (`exploring`). Where nobody asks it to, one number
stands for all of them, and a problem is made in a third of the time.
"""

from collections.abc import Sequence
from random import Random
from typing import Protocol, TypeVar

T = TypeVar("T")


class Choices(Protocol):
    """Who chooses. The first of the values, and zeros, are the simplest choice."""

    def pick(self, values: Sequence[T]) -> T:
        """One of some values, each as likely as another."""

    def seed(self, bits: int = 32) -> int:
        """A number below 2^bits, to draw other numbers from."""

    def octets(self, count: int) -> bytes:
        """So many bytes."""


class Numbered:
    """The choices that a number stands for: zero for the simplest ones."""

    def __init__(self, number: int) -> None:
        self._random = Random(number) if number else None

    def pick(self, values: Sequence[T]) -> T:
        return values[self._below(len(values))]

    def seed(self, bits: int = 32) -> int:
        return self._below(2**bits)

    def octets(self, count: int) -> bytes:
        return bytes(count) if self._random is None else self._random.randbytes(count)

    def _below(self, end: int) -> int:
        return 0 if self._random is None else int(self._random.random() * end)
