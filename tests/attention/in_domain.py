"""Where nothing overflows, so that the bounds on rounding are all there is to say.

A mask is often applied after a product: so q with k and dout with v count even where
a key is forbidden to a query, since an infinite product spoils what zero weights and
-inf would hide. Elsewhere only what is visible counts. With |da| for sum_c |dout_ic| |v_jc|,

    |o_i|  <= sum_j a_ij |v_j|            |ds_ij| <= a_ij (|da_ij| + sum_j a_ij |da_ij|)
    |dq_i| <= sum_j |scale ds_ij| |k_j|   |dk_j|  <= sum_i |scale ds_ij| |q_i|
    |dv_j| <= sum_i a_ij |dout_i|

and each sum of sizes bounds every partial sum, in any order. What is summed there is ds_ij when it
is known, of which one weight alone leaves nothing but what was rounded, sixteen units of the sizes
above at most: as sum_l a_il <= 1,

    |ds_ij| <= a_ij ((1 - a_ij) |da_ij| + sum_(l != j) a_il |da_il|)
"""

import numpy as np

from spec.attention import definition
from spec.attention.notation import Problem
from spec.attention.rounding.arithmetic import allowed
from spec.notation import Array

ROOM = 4.0  # for results in error, for a difference of two, for shares of a group of heads


def in_domain(problem: Problem) -> bool:
    """Whether no intermediate result of a right implementation can overflow."""
    rules = allowed(problem)
    each = (rules.stored if rules.u_each else rules.unit).max / ROOM
    cast = (rules.stored if rules.u_cast else rules.unit).max / ROOM
    with np.errstate(over="ignore", invalid="ignore"):
        da, scale = _products(problem), max(1.0, abs(problem.sigma))
        ds = scale * _score_gradients(problem, da)
        summed = scale * _score_gradients_known(problem, da) + 2.0 ** (4 - rules.stored.p) * ds
        return (
            _largest_score(problem, scale) < each
            and 2 * _most(da) < each
            and _most(ds) < cast
            and _largest_result(problem, summed) < rules.stored.max / ROOM
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


def _score_gradients(problem: Problem, da: Array) -> Array:
    """a_ij (|da_ij| + sum_j a_ij |da_ij|).   (B, H, N, M)"""
    a = definition.weights(problem)
    seen = np.where(problem.allowed, da, 0.0)
    return a * (seen + (a * seen).sum(axis=-1, keepdims=True))


def _score_gradients_known(problem: Problem, da: Array) -> Array:
    """a_ij ((1 - a_ij) |da_ij| + sum_(l != j) a_il |da_il|).   (B, H, N, M)"""
    a = definition.weights(problem)
    each = a * np.where(problem.allowed, da, 0.0)
    return (1 - a) * each + a * (each.sum(axis=-1, keepdims=True) - each)


def _largest_result(problem: Problem, ds: Array) -> float:
    """Of o, dq, dk and dv, a group of heads included; ds: (B, H, N, M), an upper bound."""
    a = definition.weights(problem)
    k, v = (np.abs(definition.shared(x, problem.H)) for x in (problem.k, problem.v))
    dk = definition.gathered(ds.swapaxes(-1, -2) @ np.abs(problem.q), problem.G)
    dv = definition.gathered(a.swapaxes(-1, -2) @ np.abs(problem.dout), problem.G)
    return max(_most(x) for x in (a @ v, ds @ k, dk, dv))


def _most(x: Array) -> float:
    """The largest element of `x` >= 0, or 0 if it has none; NaN counts as infinite."""
    most = float(x.max(initial=0.0))
    return float("inf") if np.isnan(most) else most
