"""Random numbers from a seed, the same in every version of every library, and in any language.

The words are those of Philox 4x64-10, a counter-based generator (Salmon, Moraes, Dror and Shaw,
"Parallel random numbers: as easy as 1, 2, 3", SC 2011): block n = 1, 2, ... is made from the
counter n and the key (seed, purpose). NumPy computes them; a test computes them in Python as well.
All other numbers are made from words by integer arithmetic, or by operations that IEEE 754 rounds
correctly.
"""

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from math import fsum, prod, sqrt
from statistics import NormalDist
from typing import Any, TypeVar

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

T = TypeVar("T")
MASK = 2**64 - 1
DIGITS = np.uint64(0x9E3779B97F4A7C15)  # odd: 2^64 over the golden ratio
AHEAD = 32  # words that are drawn at once and set aside for single numbers


class _Key(ISeedSequence):
    """A key that is used as it is. Without one, NumPy would first ask the system for another."""

    def __init__(self, *key: int) -> None:
        self._key = key

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NDArray[Any]:  # noqa: ARG002
        return np.array(self._key, np.uint64)


class Stream:
    """Random numbers, by methods named as in Python's `random` (one number) or NumPy (arrays).

    seed, purpose: integers modulo 2^64. Each use of one seed has its own purpose.
    """

    def __init__(self, seed: int, purpose: int = 0) -> None:
        key = _Key(seed & MASK, purpose & MASK)
        self._draw = np.random.Philox(key).random_raw  # type: ignore[arg-type]
        self._ahead: list[int] = []

    def word(self) -> int:
        """The next of the words that are set aside, an integer below 2^64."""
        if not self._ahead:
            self._ahead = self._draw(AHEAD)[::-1].tolist()
        return self._ahead.pop()

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next words that are not set aside for `word`.   (count)"""
        return self._draw(count)

    def below(self, end: int) -> int:
        """An integer in [0, end), for end from 1 to 2^64."""
        while (word := self.word()) - (found := word % end) > MASK + 1 - end:
            pass  # rejected: the last, fewer than `end` words would favour small integers
        return found

    def randrange(self, low: int, high: int) -> int:
        """An integer in [low, high). Raises ValueError if there is none."""
        if high <= low:
            raise ValueError(f"no integer lies in [{low}, {high})")
        return int(low + self.below(high - low))

    def integers(self, low: Any, high: Any, size: Any = None) -> NDArray[np.int64]:
        """Integers in [low, high), numbers or arrays.   (size). Raises ValueError if none exist."""
        end = high - low if isinstance(high, int) else np.asarray(high - low)
        if (end if isinstance(end, int) else end.min(initial=1)) < 1:
            raise ValueError("no integer lies between some of the bounds")
        shape = np.shape(end) if size is None else (size,) if isinstance(size, int) else size
        words = self.words(prod(shape)).reshape(shape)
        many = np.uint64(end) if isinstance(end, int) else end.astype(np.uint64)
        while (over := words - (found := words % many) > MASK - (many - 1)).any():
            words[over] = self.words(int(over.sum()))  # as `below` does
        return found.astype(np.int64) + low

    def bytes(self, count: int) -> bytes:
        """Bytes, the lowest of each word first.   (count)"""
        return self.words(-(-count // 8)).astype("<u8", copy=False).tobytes()[:count]

    def random(self, *shape: int) -> Any:
        """Multiples of 2^-53 in [0, 1): one, or an array of a shape."""
        if not shape:
            return (self.word() >> 11) * 2.0**-53
        return (self.words(prod(shape)).reshape(shape) >> np.uint64(11)) * 2.0**-53

    def normal(self, *shape: int) -> NDArray[np.float64]:
        """Standard normal numbers: half the sum of four quantiles, each chosen by 12 of 16 bits.

        35 further binary digits depend on all bits.
        """
        words = self.words(prod(shape))
        bits, table = words.view(np.int64), quantiles()
        total: NDArray[np.int64] = table.take(bits & 4095)
        for place in (16, 32, 48):
            total += table.take((bits >> place) & 4095)
        digits = (words * DIGITS >> np.uint64(29)).astype(np.int64)
        found = ((total << 35) + digits).astype(np.float64)
        found *= 2.0**-53
        return found.reshape(shape)

    def choice(self, values: Sequence[T]) -> T:
        """One of some values."""
        return values[self.below(len(values))]

    def choices(self, values: Sequence[Any], *shape: int) -> NDArray[Any]:
        """Some of the values, each drawn independently.   (shape)"""
        return np.asarray(values)[self.integers(0, len(values), shape)]

    def permutation(self, x: Any) -> NDArray[Any]:
        """The rows of an array, or the integers below a number, in random order."""
        rows = np.arange(x) if isinstance(x, int) else np.asarray(x)
        return rows[self.words(len(rows)).argsort(kind="stable")]


def seed_of(name: str) -> int:
    """A seed for anything that has a name: the first 64 bits of the SHA-256 of the name."""
    return int.from_bytes(sha256(name.encode()).digest()[:8], "big")


@cache
def quantiles() -> NDArray[np.int64]:
    """The quantiles of the normal distribution at (i + 1/2) / 4096, in units of 2^-17.

    Their variance is one. None is so close to half a unit that the error of a library's logarithm
    would round it to another integer.
    """
    found = [NormalDist().inv_cdf((i + 0.5) / 4096) for i in range(4096)]
    unit = 2**17 / sqrt(fsum(x * x for x in found) / 4096)
    return np.array([round(x * unit) for x in found])
