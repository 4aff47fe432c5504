"""The four floating-point formats, and rounding to them.

A format with p bits of precision has the unit roundoff u = 2^-p: rounding to nearest makes a
relative error of at most u (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
theorem 2.2), as long as nothing underflows. Below the smallest normal number the spacing is
constant, and the error is at most half the smallest subnormal number (section 2.1):

    fl(x) = x (1 + d) + e,    |d| <= u,    |e| <= sub / 2,    d e = 0

One algorithm rounds to all of them: a number with exponent e lies on a grid of spacing 2^(e - p),
so divide by the spacing, round to an integer (ties to even), and multiply. Both scalings are exact.
bfloat16 needs no special case.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from spec.notation import Array


@dataclass(frozen=True)
class Format:
    """A binary floating-point format with p bits of precision.

    lowest: the exponent of the smallest normal number.   highest: of the largest.
    """

    name: str
    p: int
    lowest: int
    highest: int

    @property
    def u(self) -> float:
        """The unit roundoff: the largest relative error of rounding to nearest."""
        return 2.0**-self.p

    @property
    def tiny(self) -> float:
        """The smallest normal number."""
        return 2.0**self.lowest

    @property
    def sub(self) -> float:
        """The smallest subnormal number."""
        return 2.0 ** (self.lowest - self.p + 1)

    @property
    def max(self) -> float:
        """The largest finite number."""
        return (2.0 - 2.0 ** (1 - self.p)) * 2.0**self.highest

    @property
    def w(self) -> float:
        """The largest error of one rounding that underflows: sub / 2.

        For float64 that is not a float64 number, and the next one, sub, is used.
        """
        return max(self.sub / 2, 2.0**-1074)


FORMATS: Mapping[str, Format] = {
    "float64": Format("float64", p=53, lowest=-1022, highest=1023),
    "float32": Format("float32", p=24, lowest=-126, highest=127),
    "float16": Format("float16", p=11, lowest=-14, highest=15),
    "bfloat16": Format("bfloat16", p=8, lowest=-126, highest=127),
}


def rounded(x: Array, dtype: str) -> Array:
    """`x` rounded to the nearest numbers of `dtype`, ties to even, as float64; any shape.

    Subnormal numbers round on their coarser grid. Numbers that round past the largest finite number
    become infinite, as IEEE 754 requires (section 4.3.1).
    """
    if dtype == "bfloat16":
        return on_the_grid(x, dtype)
    with np.errstate(over="ignore"):
        x = x.astype(dtype)  # NumPy's conversion takes a tenth of the time
    return x.astype(np.float64, copy=False)


def on_the_grid(x: Array, dtype: str) -> Array:
    """The same as `rounded`, by arithmetic, for every format."""
    to = FORMATS[dtype]
    _, exponent = np.frexp(x)  # |x| in [2^(exponent - 1), 2^exponent)
    spacing = np.maximum(exponent, to.lowest + 1) - to.p
    near = np.ldexp(np.rint(np.ldexp(x, -spacing)), spacing)
    beyond = np.abs(near) > to.max
    if beyond.any():
        near = np.where(beyond, np.copysign(np.inf, x), near)
    return near.astype(np.float64, copy=False)
