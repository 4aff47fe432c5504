"""The definition of ALiBi, attention with linear biases (Press et al. 2022, section 3).

    b_ij = -m_h (i - j)          for j <= i, where i and j are positions
    m_h  = 2^(-8 h / H)          for h = 1 ... H, if H is a power of two

For any other H, the published program takes n, the largest power of two below H. It uses
the slopes of n heads, followed by every second slope of 2 n heads, starting from the first,
until there are H slopes:

    m_(n + g) = 2^(-8 (2 g - 1) / (2 n))    for g = 1 ... H - n

m_(n + 1) is larger than m_1, and the slopes after it lie between m_1 and m_n: from head to head,
the slopes fall to m_n and then start again.
"""

import numpy as np

from spec.notation import Array
from spec.positions.alibi.notation import Problem


def largest_power_of_two(heads: int) -> int:
    """The largest power of two that is at most `heads`."""
    return 1 << (heads.bit_length() - 1)


def exponents(heads: int) -> Array:
    """-log2 of the slopes.   (H)"""
    n = largest_power_of_two(heads)
    first = 8 * np.arange(1, n + 1) / n
    others = 8 * (2 * np.arange(1, heads - n + 1) - 1) / (2 * n)
    return np.concatenate([first, others])


def published(heads: int, number: type[np.floating] = np.float64) -> Array:
    """The slopes m_h.   (H)"""
    return np.exp2(-exponents(heads).astype(number))


def slopes(problem: Problem) -> Array:
    """The slopes that the problem gives, or the published ones.   (H)"""
    number = problem.scores.dtype.type
    return published(problem.H, number) if problem.asked is None else problem.asked.astype(number)


def bias(problem: Problem) -> Array:
    """b_ij = -m_h |p_i - j|, which is -m_h (p_i - j) for past keys.   (H, N, M)"""
    return -slopes(problem)[:, None, None] * np.abs(problem.distance)


def from_own_position(bias: Array, problem: Problem) -> Array:
    """b_ij - b_ip, the bias relative to the query's own position.   (H, N, M)"""
    own = problem.first + np.arange(problem.N)
    return bias - bias[:, np.arange(problem.N), own][:, :, None]


def fading(problem: Problem) -> Array:
    """a_ij = r^(i-j) (1 - r) / (1 - r^(i+1)), r = exp(-m_h): weights without scores.   (H, N, M)"""
    m, d = slopes(problem)[:, None, None], problem.distance
    own = problem.first + np.arange(problem.N)[:, None]
    kept = np.where(d >= 0, d, 0)
    with np.errstate(invalid="ignore"):
        weights = np.exp(-m * kept) * np.expm1(-m) / np.expm1(-m * (own + 1))
    flat = np.broadcast_to(1 / (own + 1).astype(m.dtype), weights.shape)
    return np.where(d >= 0, np.where(m == 0, flat, weights), 0)
