"""Numbers of some kinds, in rows that are drawn once; a problem gets a part of a row.

The lattice is the integers up to 64, over 16: sums of two are exact in every format.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np

from spec.notation import Array
from spec.stream import Stream

IN_A_ROW = 2**20  # numbers of a row of a row of a row
LATTICE = 16.0  # the lattice is integers divided by this

Shape = tuple[int, ...]
Numbers = Callable[[Stream, Shape], Array]


def lattice(chance: Stream, shape: Shape) -> Array:
    """Multiples of 1/16 in [-4, 4]: sums and shifts are exact."""
    return chance.integers(-64, 65, shape) / LATTICE


def ties(chance: Stream, shape: Shape) -> Array:
    """-1, 0 and 1, so that many scores are equal and many entries are zero."""
    return chance.integers(-1, 2, shape).astype(float)


def normal(chance: Stream, shape: Shape) -> Array:
    """Standard normal numbers, as in most other tests."""
    return chance.normal(*shape)


def heavy(chance: Stream, shape: Shape) -> Array:
    """Heavy tails: a few entries far larger than all others, as in trained networks."""
    u = (chance.integers(0, 2**52, shape) + 0.5) * 2.0**-52
    return (2 * u - 1) / np.sqrt(2 * u * (1 - u))  # the quantile of Student's t, two degrees


ALIKE: Mapping[str, Numbers] = {  # in every array
    "lattice": lattice,
    "ties": ties,
    "normal": normal,
    "heavy": heavy,
}


def cut(numbers: Array, shapes: Sequence[Shape]) -> list[Array]:
    """Arrays of these shapes, cut from numbers in a row."""
    found, end = [], 0
    for shape in shapes:
        start, end = end, end + math.prod(shape)
        found.append(numbers[start:end].reshape(shape))
    return found


def arrays_of(numbers: Numbers, chance: Stream, shapes: Sequence[Shape]) -> list[Array]:
    """Arrays of these shapes, whose numbers are drawn at once, as many small draws are slow."""
    return cut(numbers(chance, (sum(map(math.prod, shapes)),)), shapes)


def in_a_row(numbers: Numbers, seed: int, count: int) -> Array:
    """`count` numbers, from a position in a row that is drawn once and used again."""
    if count > IN_A_ROW // 2:
        return numbers(Stream(seed), (count,))
    start = seed % (IN_A_ROW - count)
    return _row(numbers)[start : start + count].copy()


def largest(numbers: Numbers, count: int) -> float:
    """A bound on the magnitude of `count` numbers; infinite if they do not come from a row."""
    return math.inf if count > IN_A_ROW // 2 else _largest(numbers)


def ready() -> None:
    """Draw all rows, before the process is copied."""
    for numbers in ALIKE.values():
        _largest(numbers)


@cache
def _row(numbers: Numbers) -> Array:
    """The row of a kind of numbers, cached: drawing the numbers was a third of all drawing."""
    return numbers(Stream(0), (IN_A_ROW,))


@cache
def _largest(numbers: Numbers) -> float:
    return float(np.abs(_row(numbers)).max())
