"""The effect of a linear map on an error bound.

If every |x^_k - x_k| <= b_k, then |sum_k w_k x^_k - sum_k w_k x_k| <= sum_k |w_k| b_k,
and the sum itself, taken in wider arithmetic, adds nothing. Where a b_k is
infinite there is no claim on x_k, and none on any sum in which it has a part.
"""

import numpy as np

from spec.notation import Array


def through(weights: Array, budget: Array) -> Array:
    """The budget of weights @ x, for x with this budget; shapes as in a matrix product."""
    silent = np.isinf(budget)
    size = np.abs(weights).astype(float)
    if not silent.any():
        return size @ budget
    known = size @ np.where(silent, 0.0, budget)
    return np.where((size != 0).astype(float) @ silent.astype(float) > 0, np.inf, known)


def weighted(weights: Array, budget: Array) -> Array:
    """The budget of weights * x, element by element, for x with this budget."""
    part = weights != 0
    return np.abs(weights).astype(float) * np.where(part, budget, 0.0)
