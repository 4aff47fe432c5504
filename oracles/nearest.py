"""Numbers to many digits, and the nearest number of a format: one rounding, from all digits.

The number of digits is doubled until results with twice as many round to the same (Ziv 1991).
"""

from collections.abc import Callable
from math import copysign, inf, ldexp
from typing import Any

import mpmath
import numpy as np

from spec.formats import Format
from spec.notation import Array

FIRST, LAST = 60, 960  # decimal digits


def exact(x: Array) -> Array:
    """Return the same numbers as mpmath numbers, without rounding."""
    return np.asarray(np.frompyfunc(lambda y: mpmath.mpf(float(y)), 1, 1)(x), dtype=object)


def zeros(shape: tuple[int, ...]) -> Array:
    """Return an array of zeros."""
    return exact(np.zeros(shape))


def nearest(x: Any, to: Format) -> float:
    """Return the number of the format that is nearest to x, ties to even: one rounding."""
    if not mpmath.isfinite(x):
        return float(x)
    spacing = max(mpmath.frexp(x)[1], to.lowest + 1) - to.p
    steps = int(mpmath.nint(mpmath.ldexp(x, -spacing)))
    beyond = steps.bit_length() + spacing > to.highest + 1
    return copysign(inf, steps) if beyond else ldexp(steps, spacing)


def settled(answer: Callable[[], dict[str, Array]]) -> dict[str, Array]:
    """Return a rounded result, with enough digits that twice as many do not change it."""
    digits, before = FIRST, None
    while True:
        with mpmath.workdps(digits):
            now = answer()
        same = before and all(np.array_equal(now[n], before[n], equal_nan=True) for n in now)
        if same or digits >= LAST:
            return now
        digits, before = 2 * digits, now
