"""The effect of a soft-cap on an error, and its own rounding.

    cap(t) = c y,    y = tanh(t / c),    cap'(t) = 1 - y^2

Scores. An error of T before a cap is at most lambda T after it, where

    lambda = 1 - tanh(max(|t| - T, 0) / c)^2

is the largest slope within T of t: a cap damps the errors of large scores, and those beyond it
vanish. The division by c, or its reciprocal and a product, rounds the argument (C_RATIO), and so is
damped as well; tanh is within C_TANH u of itself, the accuracy class of vector libraries as for the
exponential; and times c rounds once:

    B_cap = lambda (T + C_RATIO u |t|) + (C_TANH + 1) u |c y|

An eager kernel stores the ratio, y and c y. An underflow in a ratio, or in y, is multiplied
by c. A tangent that an instruction approximates (tanh.approx of NVIDIA's GPUs) is off by more:
where it is declared (`tanh=approximate`), by U_TANH of itself in addition to all else. Kernels
that have no tanh write 2 sigmoid(2 x) - 1 (`tanh=sigmoid`). With s the sigmoid, its exponential is
off by C_EXP u and weighs 1 - s, the sum and the reciprocal by 4 u, and the difference cancels:

    2 s ((1 - s) C_EXP + 4) u <= C_SIGMOID u    in addition, of y, however small y is

Gradients. A slope is computed from y, 1 - y^2, or from the score, 1 - (c y / c)^2. With the error
B_y = B_cap / c of either y,

    B_slope = 2 |y| B_y + B_y^2 + C_SLOPE u

in which C_SLOPE counts a division, a square and the subtraction; where y is near 1 nothing else
is left of it. A gradient is multiplied by the slope of the cap: with ds off by B_ds,

    B_dt = (slope + B_slope) B_ds + (B_slope + u (slope + B_slope)) |ds|
"""

import numpy as np

from spec.attention.notation import Problem
from spec.attention.rounding.arithmetic import Arithmetic
from spec.notation import Array

C_RATIO, C_TANH, C_SLOPE, C_SIGMOID = 3.0, 8.0, 5.0, 12.0
U_TANH = 2.0**-11  # relative, of an approximate tangent


def error(t: Array, before: Array, problem: Problem, rules: Arithmetic) -> Array:
    """B_cap, of products t, |t| at least, that are off by `before`.   (B, H, N, M) each"""
    c, fast = problem.softcap or 1.0, U_TANH * problem.fast_tanh
    u, each = rules.u, rules.u_each
    off = before + (C_RATIO * u + each) * (np.abs(t) + before)
    damped = 1 - np.tanh(np.maximum(np.abs(t) - off, 0) / c) ** 2
    size = c * np.tanh((np.abs(t) + off) / c)
    lost = 2 * c * (rules.w + rules.w_each) + rules.w_each
    if problem.sigmoid_tanh:  # an eager one stores the exponential, the sum and twice the sigmoid
        lost += c * (C_SIGMOID * u + 5 * each)
    return np.asarray(damped * off + ((C_TANH + 1) * u + 2 * each + fast) * size + lost)


def slopes(t: Array, off: Array, c: float, rules: Arithmetic) -> tuple[Array, Array]:
    """The slope of the cap, and B_slope.   (B, H, N, M) each

    t: the products. off: B_cap.
    """
    y, B_y = np.tanh(np.abs(t) / c), off / c
    B_slope = 2 * y * B_y + B_y**2 + C_SLOPE * (rules.u + rules.u_each) + rules.w + rules.w_each
    return 1 - y**2, B_slope
