"""How far right slopes and biases may stray.

A slope is 2^(-x) with x = 8 h / H, or a first slope raised to the power h, or multiplied h
times; whichever way, the first slope rounds at most C_EXP + C_DIV + |x| ln 2 (2 + C_LOG)
units, its power h times as many, and the power itself C_EXP:

    |m^ - m| <= u m [ h (C_EXP + C_DIV + 1 + x_1 (2 + C_LOG)) + C_EXP ]    x_1 ln 2 <= x_1 <= 8

and one rounding to the dtype. A bias is a product with a whole number, which is exact in
the accumulator:

    e = |m^ - m| / m + 2 u, and u_cast for a stored slope, u_each for each stored factor
    |b^ - b| <= e |b| + u_out |b|

where |b| is that of the row as it was computed, with the constant that a row may carry. A
program that counts from the other end of the row has |b| <= m M, and no more is granted: a
larger constant is forgotten by a softmax in exact arithmetic only, and in a format it takes
the digits of the bias away. Slopes that are asked for are exact.
"""

import numpy as np

from spec.attention.rounding.arithmetic import C_DIV, C_EXP, C_LOG, allowed
from spec.attention.rounding.sums import growth
from spec.notation import Array
from spec.positions.alibi import definition
from spec.positions.alibi.notation import Problem
from spec.positions.angles import slack


def _of_slopes(problem: Problem) -> Array:
    """The relative error of the slopes before they are stored.   (H)"""
    rules = allowed(problem)
    if problem.asked is not None:
        return np.zeros(problem.H)
    x = definition.exponents(problem.H)
    n = definition.largest_power_of_two(problem.H)
    start = np.where(np.arange(problem.H) < n, 8 / n, 8 / (2 * n))
    power = x / start
    each = C_EXP + C_DIV + 1 + start * (2 + C_LOG)
    roundings = power * each + C_EXP
    return rules.u * growth(int(roundings.max()), rules.u) * roundings


def of_slopes(problem: Problem) -> Array:
    """The budget of the slopes as they are stored.   (H)"""
    rules = allowed(problem)
    m = definition.slopes(problem).astype(float)
    off = m * _of_slopes(problem)
    return slack(problem.dtype, rules.u) * (off + rules.u_out * (m + off) + rules.w_out)


def of_bias(problem: Problem, bias: Array) -> Array:
    """The budget of a bias that came out as `bias`.   (H, N, M)"""
    rules = allowed(problem)
    relative = (_of_slopes(problem) + 2 * rules.u + rules.u_cast + 3 * rules.u_each)[:, None, None]
    relative = relative * (1 + relative) + rules.u_out
    size = np.abs(np.where(np.isfinite(bias), bias, 0)).astype(float) / (1 - relative)
    size = np.minimum(size, definition.slopes(problem).astype(float)[:, None, None] * problem.M)
    least = rules.w + rules.w_out + (rules.w_cast + rules.w_each) * problem.M
    return slack(problem.dtype, rules.u) * (relative * size + least)


def of_difference(problem: Problem, bias: Array) -> Array:
    """The budget of b_ij - b_ip.   (H, N, M)"""
    off = of_bias(problem, bias)
    own = problem.first + np.arange(problem.N)
    return off + off[:, np.arange(problem.N), own][:, :, None]


def of_weights(problem: Problem, bias: Array, a: Array) -> Array:
    """The budget of the weights a of a softmax over the past of `bias`.   (H, N, M)

    a^_j / a_j lies within exp(2 e) of one, for scores within e; the softmax itself, in
    the arithmetic of the clause, rounds a unit for each key and a few more, and
    may lose what is smaller than its smallest normal number.
    """
    off = np.where(problem.past, of_difference(problem, bias), 0)
    moved = np.expm1(np.minimum(2 * off.max(axis=-1, keepdims=True), 100.0))
    arithmetic = np.finfo(bias.dtype)
    own = float(arithmetic.eps) * (problem.M + 2 * C_EXP + C_DIV)
    size = np.abs(np.where(problem.past, bias, 0)).max(axis=-1, keepdims=True).astype(float)
    return a * (moved + own * (1 + size)) + arithmetic.tiny
