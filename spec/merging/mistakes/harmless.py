"""Harmless variants of a merge: other correct ways to compute the same state."""

import numpy as np

from spec.merging.mistakes.making import Right, wrong
from spec.merging.mistakes.steps import Sums, larger
from spec.notation import Array


@wrong("power", incident="plausible", harmless=True)
def exponentiates_bits(lse: Array, top: Array) -> Array:
    """Computes exp(lse - top) as a power of two, as kernels do."""
    bits = 1 / np.log(lse.dtype.type(2))
    return np.exp2(lse * bits - top * bits)


@wrong("call", incident="plausible", harmless=True)
def normalises_by_the_log_sum_exp(
    _: Right, o_1: Array, lse_1: Array, o_2: Array, lse_2: Array
) -> tuple[Array, Array]:
    """Computes the merged log-sum-exp first, and the weights as exp(lse_i - lse)."""
    lse = np.logaddexp(lse_1, lse_2)
    shift = np.where(np.isneginf(lse), 0, lse).astype(lse.dtype)
    pairs = ((o_1, lse_1), (o_2, lse_2))
    one, two = (np.exp(x - shift)[..., None] * np.nan_to_num(o).astype(lse.dtype) for o, x in pairs)
    return (one + two).astype(o_1.dtype), lse


@wrong("measure", incident="plausible", harmless=True)
def starts_from_the_smaller(sums: Sums) -> Array:
    """Computes the log-sum-exp as max - log(1 / sum) instead of max + log(sum)."""
    with np.errstate(divide="ignore"):
        return -(np.log(1 / sums.total) - sums.top)


@wrong("larger", incident="plausible", harmless=True)
def subtracts_a_whole_number(l_1: Array, l_2: Array) -> Array:
    """Subtracts the maximum rounded up to an integer, so both exponentials may be below one."""
    return np.ceil(larger(l_1, l_2))


@wrong("call", incident="plausible", harmless=True)
def merges_the_other_way_round(
    right: Right, o_1: Array, lse_1: Array, o_2: Array, lse_2: Array
) -> tuple[Array, Array]:
    """Merges the two states in the opposite order."""
    return right(o_2, lse_2, o_1, lse_1)
