"""The correct steps of a merge. A known bug replaces one of them."""

from typing import NamedTuple

import numpy as np

from spec.notation import Array


class Sums(NamedTuple):
    """The numbers that the merged log-sum-exp is computed from; arrays (B, H, N)."""

    l_1: Array
    l_2: Array
    top: Array
    total: Array


class Pass(NamedTuple):
    """The inputs of the backward pass: weights, log-sum-exps (B, H, N), outputs (B, H, N, E)."""

    w_1: Array
    w_2: Array
    o_1: Array
    o_2: Array
    o: Array
    l_1: Array
    l_2: Array


def unit() -> float:
    """The factor that converts a log-sum-exp to natural units."""
    return 1.0


def understand(lse: Array) -> Array:
    """The log-sum-exp of a state, with -inf for +inf, which also means empty.   (B, H, N)"""
    return np.where(np.isposinf(lse), -np.inf, lse).astype(lse.dtype)


def larger(l_1: Array, l_2: Array) -> Array:
    """The larger log-sum-exp, or 0 if both are -inf.   (B, H, N)"""
    top = np.maximum(l_1, l_2)
    return np.where(np.isneginf(top), 0, top).astype(top.dtype)


def power(lse: Array, top: Array) -> Array:
    """exp(lse - top).   (B, H, N)"""
    return np.exp(lse - top)


def add(e_1: Array, e_2: Array) -> Array:
    """The sum of the two exponentials.   (B, H, N)"""
    return e_1 + e_2


def share(e: Array, total: Array) -> Array:
    """e / total, or 0 if the total is 0.   (B, H, N)"""
    return e / np.where(total == 0, 1, total)


def mix(w_1: Array, o_1: Array, w_2: Array, o_2: Array) -> Array:
    """w_1 o_1 + w_2 o_2, where an output of weight 0 is ignored, even NaN.   (B, H, N, E)"""
    weighed = (
        np.where(w[..., None] == 0, 0, w[..., None] * o) for w, o in ((w_1, o_1), (w_2, o_2))
    )
    return sum(weighed, start=np.zeros_like(o_1))


def measure(sums: Sums) -> Array:
    """top + log total, or -inf if the total is 0.   (B, H, N)"""
    with np.errstate(divide="ignore"):
        return sums.top + np.log(sums.total)


def to_outputs(seen: Pass, do: Array) -> tuple[Array, Array]:
    """do_i = w_i do.   two of (B, H, N, E)"""
    return seen.w_1[..., None] * do, seen.w_2[..., None] * do


def to_lse(seen: Pass, do: Array, dlse: Array) -> tuple[Array, Array]:
    """dlse_i = w_i (<do, o_i - o> + dlse).   two of (B, H, N)"""
    pairs = ((seen.w_1, seen.o_1), (seen.w_2, seen.o_2))
    one, two = (w * ((do * (o - seen.o)).sum(axis=-1) + dlse) for w, o in pairs)
    return one, two
