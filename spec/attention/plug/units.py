"""Detect how the matrix units that an implementation runs on round sums, by one problem.

No device has to be declared: a sum of three numbers shows whether it was rounded or cut off
(`spec.attention.rounding.units`).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from spec.attention.conventions import SUMS
from spec.attention.notation import Problem
from spec.comparison import Violation
from spec.subject import Refused

KEYS, ULP = 128, 2.0**-23
LARGE = 2.0**13  # so that in float16 all that is summed, and its mean, are numbers


def sums(dtype: str) -> Problem:
    """Means of 1, 1.75 ulp and -1, times a number, in either sign: of 1.75 or 2 ulp, or of 1.

    All keys weigh the same; the last number lies far from the others, so that what they add up to
    is kept in 24 bits in between.
    """
    v = np.zeros((1, 1, KEYS, 16))
    v[..., (0, 1, -1), 0] = LARGE * np.array([1, 1.75 * ULP, -1])
    v[..., 1] = -v[..., 0]
    nothing = np.zeros((1, 1, KEYS, 16))
    return Problem(nothing[:, :, :16], nothing, v, v[:, :, :16], dtype=dtype, rounding="eager")


def of_sums(record: Any, dtype: str) -> Mapping[str, str]:
    """That sums of products are cut off, if they are; in float64 nobody does."""
    problem = sums(dtype)
    if dtype == "float64" or not record.kinds_of(problem) <= record.answers:
        return {}
    try:
        o = record.forward(problem)[..., :2]
    except (Refused, Violation):
        return {}
    return dict([SUMS]) if (o == LARGE * ULP / KEYS * np.array([1, -1])).all() else {}
