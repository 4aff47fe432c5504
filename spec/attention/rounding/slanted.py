"""The error of a score from ALiBi slopes, and what of a row they move.

e = -m (p - j) is what a slope adds to a score. Its distance is exact, so that the product rounds
once; of the score, a bias b and e any two may be added first, which rounds once more, a sum of at
most

    max(|b + e|, |s| + |b|, |s| + |e|)    where neither b nor e is zero

An eager e is stored, and so are the slopes that it is made of.

A program may add m r_j, with the position r_j of the key alone (`slopes-from=keys`): that is e and
a number m p_i of the row, which cancels in the softmax. But the product rounds m r_j, and all sums
and the maximum round scores that are larger by m p_i, wherever they are near zero without it.
"""

from dataclasses import dataclass

import numpy as np

from spec.attention.notation import Problem
from spec.attention.rounding.arithmetic import C_BIAS, Arithmetic
from spec.attention.rounding.reference import in_float64
from spec.notation import Array


@dataclass(frozen=True, eq=False)
class Slanted:
    """The biases of slopes.

    e: zero where a key is masked. product: the size of what is added in its place. (B, H, N, keys)
    lifted: the number that it adds to all scores of a query, |m p_i|.   (B or 1, H, N, 1), or 0
    """

    e: Array
    product: Array
    lifted: Array | float

    def error(
        self, bias: Array, total: Array, rules: Arithmetic, unit: float, each: float
    ) -> Array:
        """The error of a score beyond that of the whole bias.   (B, H, N, keys)

        bias: with e. total: the largest that the score may be. unit, each: of an operation, and of
        storing.
        """
        e, b = self.product, np.abs(bias - self.e)
        first = np.maximum(np.abs(bias), np.maximum(total + b, total + e)) * (np.minimum(b, e) > 0)
        error = unit * (C_BIAS * (b + e - np.abs(bias)) + e) + 2 * each * e + (unit + each) * first
        return np.asarray(error + 2 * (rules.w + rules.w_each))


def multiplied(problem: Problem) -> Array:
    """The size of the numbers that slopes multiply: |p_i - r_j|, or |r_j| if that is larger."""
    d = np.abs(problem.distance)
    if not problem.slopes_by_key:
        return d
    return np.maximum(d, np.abs(problem.slope_positions[1]))


def slanted(problem: Problem, keys: int) -> Slanted | None:
    """The biases that slopes add to the scores, if there are any.

    keys: how many there are, with a sink as one more.
    """
    if problem.slopes is None:
        return None
    e = np.where(problem.allowed, in_float64(problem.slant), 0.0)
    product = np.abs(e)
    lifted: Array | float = 0.0
    if problem.slopes_by_key:
        m = np.abs(in_float64(problem.slopes)).reshape(-1, problem.H, 1, 1)
        product = np.where(problem.allowed, m * multiplied(problem), 0.0)
        lifted = m * np.abs(problem.slope_positions[0])
    padding = ((0, 0), (0, 0), (0, 0), (0, keys - problem.M))
    return Slanted(np.pad(e, padding), np.pad(product, padding), lifted)
