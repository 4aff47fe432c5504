"""ALiBi in NumPy (Press et al. 2022, section 3): exponents in closed form, then one product.

With n the largest power of two that is at most H, the exponents of the slopes are 8 h / n for the
first n heads, and the odd multiples of 4 / n for the remaining ones.
"""

from typing import Any

import numpy as np

from spec.notation import Array


def bias(
    heads: int, queries: int, keys: int, slopes: Array | None = None, dtype: Any = np.float64
) -> Array:
    """Return -m_h times the distance; queries are at the last keys.   (heads, queries, keys)"""
    number = np.result_type(dtype, np.float32)
    m = published(heads, number) if slopes is None else slopes.astype(number)
    here = np.arange(keys - queries, keys)
    distance = np.abs(here[:, None] - np.arange(keys)).astype(number)
    return (-m[:, None, None] * distance).astype(dtype)


def shown(heads: int, dtype: Any = np.float64) -> Array:
    """Return the slopes of a number of heads.   (heads)"""
    return published(heads, np.result_type(dtype, np.float32)).astype(dtype)


def published(heads: int, number: np.dtype[Any]) -> Array:
    """Return 2^(-x) for the published exponents x."""
    n = 1 << (heads.bit_length() - 1)
    first = np.arange(1, n + 1, dtype=number) * 8 / n
    others = np.arange(1, 2 * (heads - n), 2, dtype=number) * 4 / n
    return np.exp2(-np.concatenate([first, others])).astype(number)


vars(bias).update(slopes=shown, conventions={"sides": "both"})
