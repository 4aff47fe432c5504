"""How far a right table, and a right sum with it, may stray.

With b the budget of a sine or cosine (`angles`), t an entry of the table, and the grades of
`spec.attention.rounding.arithmetic`,

    table   b, and one rounding to the dtype
    add     b, in `flash` and `eager` the rounding of a stored table, the addition
            u |x + t|, and one rounding to the dtype

A pair (sin a, cos a) has length one whatever a is: two relative errors of at most
e = C_TRIG u and the rounding to the dtype leave |s^2 + c^2 - 1| <= 2 e + e^2, without
any error of the angle.
"""

import numpy as np

from spec.attention.rounding.arithmetic import allowed
from spec.notation import Array
from spec.positions.angles import BASE, C_TRIG, angles, of_angles, of_cosines, slack
from spec.positions.pairing import woven
from spec.positions.sinusoidal import definition
from spec.positions.sinusoidal.notation import Problem


def _waves(problem: Problem) -> tuple[Array, Array]:
    """|t| and the budget of a computed t, before anything is stored.   two of (N, E)"""
    u = allowed(problem).u
    angle = angles(problem.positions, problem.E, BASE)
    off = of_angles(problem.positions, problem.E, BASE, u)
    of_cosine, of_sine = of_cosines(angle, off, u)
    return np.abs(definition.waves(angle, problem.E)), woven(of_sine, of_cosine)[:, : problem.E]


def of_table(problem: Problem) -> Array:
    """The budget of the table as it is stored.   (N, E)"""
    rules = allowed(problem)
    size, off = _waves(problem)
    return slack(problem.dtype, rules.u) * (off + rules.u_out * (size + off) + rules.w_out)


def of_sum(problem: Problem) -> Array:
    """The budget of y = x + table.   (B, N, E)"""
    rules = allowed(problem)
    size, off = _waves(problem)
    off = off + rules.u_cast * (size + off) + rules.w_cast
    total = np.abs(problem.x.astype(float) + definition.table(problem).astype(float))
    off = off + rules.u * (total + off) + rules.w
    return slack(problem.dtype, rules.u) * (off + rules.u_out * (total + off) + rules.w_out)


def of_length(problem: Problem) -> Array:
    """The budget of sin^2 + cos^2 for every pair of the table, whatever the angle.   (N, pairs)"""
    rules = allowed(problem)
    each = C_TRIG * rules.u + rules.u_out * (1 + C_TRIG * rules.u) + 2 * rules.w_out
    return np.full(
        (problem.N, problem.E // 2), slack(problem.dtype, rules.u) * (2 * each + each * each)
    )


def of_product(one: Array, two: Array, off_one: Array, off_two: Array) -> Array:
    """The budget of <one, two> along the last axis, for entries with these budgets."""
    one, two = np.abs(one).astype(float), np.abs(two).astype(float)
    return one @ off_two.T + off_one @ two.T + off_one @ off_two.T


def turned(budget: Array) -> Array:
    """The error bounds of a pair after a turn by any angle: at most their sum."""
    return np.repeat(budget[..., 0::2] + budget[..., 1::2], 2, axis=-1)


def longest(x: Array) -> Array:
    """The Euclidean length of every row; the length of a budget bounds what it does to a length."""
    return np.sqrt((x * x).sum(axis=-1))


def of_weights(a: Array, moved: Array) -> Array:
    """The budget of a softmax with the weights a whose scores are within `moved`.

    a^_j / a_j = exp(e_j) / sum_k a_k exp(e_k) lies within exp(2 e) of one either way,
    for |e_j| <= e.
    """
    return a * np.expm1(2 * moved.max(axis=-1, keepdims=True))
