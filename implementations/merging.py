"""Merging of two states in NumPy, with weights from the larger log-sum-exp.

    e_i = exp(lse_i - m)    w_i = e_i / (e_1 + e_2)    lse = m + log(e_1 + e_2)

m is the larger of both (Milakov and Gimelshein 2018, section 3). A state without keys has
lse = -inf. Its output is never read, so it may be an uninitialised buffer.
"""

import numpy as np

from implementations.arguments import accumulator, nonzero, reference, rounded
from spec.notation import Array

State = tuple[Array, Array]


def merge(o_1: Array, lse_1: Array, o_2: Array, lse_2: Array) -> State:
    """Return o and lse of both states.   o_i (B, H, N, E), lse_i (B, H, N)"""
    w_1, w_2, lse = shares(lse_1, lse_2, accumulator(o_1.dtype))
    o = weighed(w_1, o_1, lse_1) + weighed(w_2, o_2, lse_2)
    return rounded(o, o_1.dtype), rounded(lse, lse_1.dtype)


def backward(
    do: Array, dlse: Array, o_1: Array, lse_1: Array, o_2: Array, lse_2: Array
) -> tuple[Array, Array, Array, Array]:
    """Return the gradients of <do, o> + <dlse, lse> with respect to o_1, lse_1, o_2, lse_2.

    dlse_1 = w_1 (w_2 x + dlse) and dlse_2 = w_2 (dlse - w_1 x), with x = <do, o_1 - o_2> if both
    states have keys. The difference of the outputs is computed first, so that nothing cancels.
    """
    work = accumulator(o_1.dtype)
    w_1, w_2, _ = shares(lse_1, lse_2, work)
    gone = (np.isneginf(lse_1) | np.isneginf(lse_2))[..., None]
    one, two = (np.where(gone, 0, o).astype(work) for o in (o_1, o_2))
    x, g = (do.astype(work) * (one - two)).sum(axis=-1), dlse.astype(work)
    do_1, do_2 = (rounded(w[..., None] * do.astype(work), o_1.dtype) for w in (w_1, w_2))
    dlse_1, dlse_2 = w_1 * (w_2 * x + g), w_2 * (g - w_1 * x)
    return do_1, rounded(dlse_1, lse_1.dtype), do_2, rounded(dlse_2, lse_2.dtype)


def shares(lse_1: Array, lse_2: Array, work: np.dtype) -> tuple[Array, Array, Array]:
    """Return w_1 and w_2, zero without keys, and lse, not rounded.   three of (B, H, N)"""
    l_1, l_2 = lse_1.astype(work), lse_2.astype(work)
    top = reference(np.maximum(l_1, l_2))
    e_1, e_2 = np.exp(l_1 - top), np.exp(l_2 - top)
    total = e_1 + e_2
    with np.errstate(divide="ignore"):
        lse = top + np.log(total)
    return e_1 / nonzero(total), e_2 / nonzero(total), lse


def weighed(w: Array, o: Array, lse: Array) -> Array:
    """Return w o, and 0 without keys, whatever o contains there.   (B, H, N, E)"""
    return w[..., None] * np.where(np.isneginf(lse)[..., None], 0, o).astype(w.dtype)


vars(merge).update(backward=backward)
