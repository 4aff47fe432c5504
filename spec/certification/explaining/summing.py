"""A compared value as a sum of the numbers of one result.

A clause may compare a value that no call returns: a step from one bias to the next, the sum of a
row. If that is

    got = sum_k c_k x_k + d    or    sum_k c_k x_k^2 + d        x the numbers of one result

and the expected value does not depend on them, each c_k is found by changing x_k alone. A script
then makes the call, and adds up.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from spec.comparison import close
from spec.notation import Array
from spec.written import literal

MOST = 300  # numbers of an answer that are changed one by one
FEW = 4  # terms that a reader adds up
GRAIN = 2.0**20  # constants are multiples of its inverse: those of laws are
TINY = 2.0**-30  # of all that is added up, left by rounding
SMALL = 0.125  # of the bound, left by a cast of the result

Seen = tuple[Array, Array, Array]  # what is got, wanted and allowed at one place
Asked = Callable[[Array], tuple[Array, Seen] | None]


class Sum(NamedTuple):
    """A sum of the numbers of a result, its expected value, and the bound.

    power: 1 or 2. constants: c_k, shaped like the result. rest: d.
    """

    power: int
    constants: Array
    rest: float
    want: Array
    within: Array

    def of(self, x: Array) -> float:
        """sum_k c_k x_k^power + d."""
        return float((self.constants * x**self.power).sum() + self.rest)

    def size(self, x: Array) -> float:
        """sum_k |c_k x_k^power| + |d|."""
        return float(np.abs(self.constants * x**self.power).sum() + abs(self.rest))

    def rounding(self, x: Array) -> float:
        """The difference from the compared value that rounding may leave."""
        return max(TINY * self.size(x), SMALL * float(self.within))

    @property
    def text(self) -> str:
        """The sum as source text, of an array with the name `out`."""
        entries = [tuple(map(int, place)) for place in np.argwhere(self.constants)]
        signs, power = [float(self.constants[x]) for x in entries], "" if self.power == 1 else "**2"
        if len(entries) > FEW or {*signs} - {1.0, -1.0}:
            words = [f"(out{power} * {literal(self.constants)}).sum()"]
        else:
            each = zip(entries, signs, strict=True)
            words = [f"{'-+'[c > 0]} out{list(at)}{power}" for at, c in each]
        rest = [f"{'-+'[self.rest > 0]} {abs(self.rest)!r}"] if self.rest else []
        return " ".join([*words, *rest]).removeprefix("+ ")


def summed(asked: Asked, right: Array) -> Sum | None:
    """The compared value as a sum of the numbers of a result; None if it is none.

    asked: the compared value for other numbers, which are rounded to the format.
    """
    first = asked(right) if right.size <= MOST and np.isfinite(right).all() else None
    if first is None or not np.isfinite(first[1][0]):
        return None
    x, (got, want, within) = first
    moved: list[tuple[Array, Array]] = []
    for step in np.eye(right.size):
        found = asked(right + step.reshape(right.shape))
        if found is None or found[1][1] != want:
            return None
        moved.append((found[0], found[1][0]))
    for power in (1, 2):
        slopes = [(y - got) / (z**power - x**power).sum() for z, y in moved]
        constants = np.round(np.reshape(slopes, right.shape) * GRAIN) / GRAIN
        alone = Sum(power, constants, 0.0, want, within)
        rest = float(got) - alone.of(x)
        made = alone._replace(rest=0.0 if abs(rest) <= alone.rounding(x) else rest)
        if constants.any() and _is_one(made, asked, right):
            return made
    return None


def _is_one(made: Sum, asked: Asked, right: Array) -> bool:
    """Whether the sum predicts the compared values of other numbers, right and wrong ones."""
    other = asked(right + np.arange(1.0, right.size + 1).reshape(right.shape))
    if other is None:
        return False
    x, (got, _, _) = other
    near = abs(made.of(x) - got) <= made.rounding(x)
    return bool(near) and not close(np.asarray(made.of(right)), made.want, made.within)
