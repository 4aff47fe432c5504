"""How far the exponent of a weight may be from its exact value.

On the way from scores to weights, after the error eta of a score (`scores`):

    y_ij    = u [C_GAP (m - s) + C_TOP |m|] + u C_EXP (1 + R) + u_exp
    x_ij    = eta_ij + y_ij

y is the subtraction of the maximum, the exponential, and R times the exponential of a rescaling
(Lemma 4), which is never stored, and so never a fast one. The exponents of successive rescalings
add up to at most m - s, so their roundings do to C_GAP u (m - s).
"""

import numpy as np

from spec.attention.rounding import merged, sums
from spec.attention.rounding.arithmetic import C_EXP, C_GAP, C_TOP
from spec.attention.rounding.scores import Scores
from spec.notation import Array, once


class Exponents:
    """The exponents of one problem and what bounds them, each computed once, when asked for.

    Every attribute is the symbol of that name in the module's derivation.
    """

    def __init__(self, scores: Scores) -> None:
        self.scores = scores
        self.problem, self.rules = scores.problem, scores.rules

    @once
    def gap(self) -> Array:
        """m_i - s_ij, 0 at forbidden keys.   (B, H, N, M)"""
        return self.scores.m - self.scores.s

    @once
    def R(self) -> Array:
        """How often a weight may be rescaled (Lemma 4).   (B, H, N, M)"""
        margin = 2.0 * self.scores.eta.max(axis=-1, keepdims=True, initial=0.0)
        return sums.rescalings(self.scores.masked, margin)

    @once
    def y(self) -> Array:
        """The error of the exponent beyond that of the score: y = x - eta.   (B, H, N, M)"""
        r = self.rules
        of_gap, of_top = r.u * C_GAP + r.u_each * (not self.scores.exact), r.u * C_TOP
        largest = sums.plus(np.abs(self.scores.m), self.scores.lifted)
        of_row = of_top * largest + (r.u * C_EXP + r.u_exp)
        y = of_gap * self.gap + (r.u * C_EXP) * self.R
        y += sums.plus(of_row, (2 * of_gap + of_top) * self.most_moved)
        return sums.plus(y, self.lost)

    @once
    def lost(self) -> Array | float:
        """The error of the exponents from merging parts.   (B, H, N, M), or 0"""
        return merged.of_exponents(self.problem, self.scores.m, self.gap, self.rules.u)

    @property
    def most_moved(self) -> Array | float:
        """The most that inexact inputs do to a score of the row.   (B, H, N, 1)"""
        moved = self.scores.moved
        if not isinstance(moved, np.ndarray):
            return moved
        return np.asarray(moved.max(axis=-1, keepdims=True, initial=0.0))

    @once
    def x(self) -> Array:
        """The error of the exponent.   (B, H, N, M)"""
        return self.scores.where_visible(self.scores.eta + self.y)
