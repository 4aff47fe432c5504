"""The error of a matrix product of numbers that are themselves results.

Lemma (a linear map of inexact numbers). Let |l^ - l| <= B_l and |r^ - r| <= B_r. The sum is
then sum_k l^_k r^_k + c, which differs from sum_k l_k r_k + c by at most

    moved = sum_k B_l |r| + (|l| + B_l) B_r

and is itself rounded as Lemma 1 of `sums` says, in any order, with the sizes
size = sum_k (|l| + B_l)(|r| + B_r) + |c| and a sum of at most |total| + moved:

    B = moved + lemma 1(size, |total| + moved, terms)

Where matrix units read subnormal numbers as zero, each product adds `flush` times the
other factor.

An eager product is stored before c is added to it, and after. Both numbers are at most
|total| + |c| + B in size, so with u and w for the rounding of one that is stored

    B + u (|total| + |c| + B) (1 + u) + w    before,   and as much again after
"""

from typing import Any

import numpy as np

from spec.attention.rounding import sums
from spec.attention.rounding.arithmetic import Arithmetic
from spec.attention.rounding.units import entered
from spec.notation import Array


def added_up(
    left: Array,
    right: Array,
    total: Array,
    rules: Arithmetic,
    u: float,
    *,
    B_left: Any = 0.0,
    B_right: Any = 0.0,
    added: Array | None = None,
) -> Array:
    """The lemma: the error of left @ right + added in an accumulator of unit roundoff u.

    left: (..., n, k). right: (..., k, m). added: broadcasts to (..., n, m), or None.
    total: the exact value. B_left, B_right: broadcast to left and right.
    """
    n = left.shape[-1] + (added is not None)
    of_left = entered(left, np.broadcast_to(B_left, left.shape), rules)
    of_right = entered(right, np.broadcast_to(B_right, right.shape), rules)
    most_left, most_right = np.abs(left) + of_left, np.abs(right) + of_right
    size = most_left @ most_right + (0.0 if added is None else np.abs(added))
    moved = of_left @ np.abs(right) + most_left @ of_right
    most = np.abs(total) + moved
    error = moved + sums.of_any_order(size, most, n, u=u, w=rules.w, count=n, cut=rules.cut)
    if rules.flush:
        operands = most_left.sum(axis=-1)[..., None] + most_right.sum(axis=-2)[..., None, :]
        error = error + rules.flush * operands
    return error


def product(
    left: Array,
    right: Array,
    total: Array,
    rules: Arithmetic,
    u: float,
    *,
    added: Array | None = None,
    **inexact: Any,
) -> Array:
    """The same, with what an eager product is stored as on its way."""
    error = added_up(left, right, total, rules, u, added=added, **inexact)
    if not rules.u_each:
        return error
    size = np.abs(total) + (0.0 if added is None else np.abs(added)) + error
    return error + 2 * rules.u_each * (1 + rules.u_each) * size + 2 * rules.w_each


def entering(error: Array, exact: Array, rules: Arithmetic) -> Array:
    """The error of an array as it enters a product, where it may be cast."""
    return (1 + rules.u_cast) * error + rules.u_cast * np.abs(exact) + rules.w_cast


def stored(error: Array, exact: Array, rules: Arithmetic) -> Array:
    """The error of a result, once it is stored in the dtype."""
    size = np.abs(exact).astype(np.float64)
    return (1 + rules.u_out) * error + rules.u_out * size + rules.w_out
