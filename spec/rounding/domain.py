"""Where nothing overflows, so that the bounds on rounding are all there is to say.

A mask is often applied after a product: so q with k and dout with v count even where
a key is forbidden to a query, since an infinite product spoils what zero weights and
-inf would hide. Elsewhere only what is visible counts. With weights of at most one,

    |o| <= sum_j |v_j|               |ds_ij| <= 2 max_j |da_ij|
    |dq_i| <= sum_j |scale ds_ij| |k_j|      |dk_j| <= sum_i |scale ds_ij| |q_i|
    |dv_j| <= sum_i |dout_i|

and each sum over what is visible bounds every partial sum, in any order.
"""

from __future__ import annotations

import numpy as np

from spec import definition
from spec.notation import Array, Problem
from spec.rounding.arithmetic import allowed

ROOM = 4.0  # for results in error, for a difference of two, for shares of a group of heads


def in_domain(problem: Problem) -> bool:
    """Whether no intermediate result of a right implementation can overflow."""
    rules = allowed(problem)
    each = (rules.stored if rules.u_each else rules.unit).max / ROOM
    cast = (rules.stored if rules.u_cast else rules.unit).max / ROOM
    with np.errstate(over="ignore", invalid="ignore"):
        da, scale = _products(problem), max(1.0, abs(problem.sigma))
        ds = 2 * scale * np.where(problem.allowed, da, 0.0).max(axis=-1, keepdims=True, initial=0.0)
        return (
            _largest_score(problem, scale) < each
            and 2 * _most(da) < each
            and _most(ds) < cast
            and _largest_result(problem, ds) < rules.stored.max / ROOM
        )


def _products(problem: Problem) -> Array:
    """sum_c |dout_ic| |v_jc|, forbidden keys and all.   (B, H, N, M)"""
    v = definition.shared(problem.v, problem.H)
    return np.abs(problem.dout) @ np.abs(v).swapaxes(-1, -2)


def _largest_score(problem: Problem, scale: float) -> float:
    """Of q, k and their product, scaled or not, and biased; of the sum of exponentials."""
    q, k = np.abs(problem.q), np.abs(definition.shared(problem.k, problem.H))
    products = scale * _most(q @ k.swapaxes(-1, -2)) + _most(np.abs(problem.bias))
    return max(products, scale * _most(q), scale * _most(k), float(problem.M))


def _largest_result(problem: Problem, ds: Array) -> float:
    """Of o, dq, dk and dv, a group of heads included; ds: (B, H, N, 1), an upper bound."""
    seen = problem.allowed.astype(np.float64)
    k, v = (np.abs(definition.shared(x, problem.H)) for x in (problem.k, problem.v))
    o, dq = seen @ v, ds * (seen @ k)
    dk = definition.gathered(seen.swapaxes(-1, -2) @ (ds * np.abs(problem.q)), problem.G)
    dv = definition.gathered(seen.swapaxes(-1, -2) @ np.abs(problem.dout), problem.G)
    return max(_most(x) for x in (o, dq, dk, dv))


def _most(x: Array) -> float:
    """The largest element of `x` >= 0, or 0 if it has none; NaN counts as infinite."""
    most = float(x.max(initial=0.0))
    return float("inf") if np.isnan(most) else most
