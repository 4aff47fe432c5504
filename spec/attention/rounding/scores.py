"""How far a score, and the exponent of its weight, may be from their exact values.

Write t = scale <q_i, k_j>, m_i = max_j s_ij, and

    mass_ij = |scale| sum_c |q_ic| |k_jc|
    eta_ij  = u [(1 + C_PRE) mass + (D - 1)(mass + |t|) / 2 + C_SCALE |t|]
              + u (|s| + C_BIAS |b| + (1 + C_BIAS) |e|)                    the score
    y_ij    = u [C_GAP (m - s) + C_TOP |m|] + u C_EXP (1 + R) + u_exp      and after it
    x_ij    = eta_ij + y_ij                                                the exponent

A cap c makes of t the score cap(t) = c y, y = tanh(t / c), and of its error T, the first line of
eta, the error (`capped`)

    lambda T + lambda u C_RATIO |t| + u C_TANH |c y|,    lambda = sup cap' within T of t

which takes the place of T; or of eta, where a bias is capped as well. As cap' is at most 1, what is
damped is never made larger.

The first line of eta is Lemma 1 for <q_i, k_j>, whatever of the scale is multiplied in
before, and the scale; the second is the bias, of which slopes are a part: b is what a mask adds,
and e = -m (p - j) what a slope does, whose distance is exact, so that the product rounds once. Of
the three terms cap(t), b and e any two may be added first, which rounds once more, a sum of at most

    max(|b + e|, |s| + |b|, |s| + |e|)    where neither b nor e is zero

An eager e is stored, and so are the slopes that it is made of. y is what happens on the way from
scores to weights: the subtraction of the maximum, the exponential, and R times the
exponential of a rescaling (Lemma 4), which is never stored, and so never a fast one.
The exponents of successive rescalings add up to at most m - s, so their roundings do
to C_GAP u (m - s).
"""

from functools import cached_property
from typing import Any

import numpy as np

from spec.attention import definition
from spec.attention.notation import Problem
from spec.attention.rounding import arithmetic, capped, sums
from spec.attention.rounding.arithmetic import C_BIAS, C_EXP, C_GAP, C_PRE, C_SCALE, C_TOP
from spec.attention.rounding.inexact import Inexact
from spec.attention.rounding.reference import Reference, in_float64
from spec.notation import Array


def slanted(problem: Problem, keys: int) -> Array | None:
    """What slopes add to the scores, if there are any, and nothing to what is no key of the text.

    keys: with a sink as one more.   (B, H, N, keys)
    """
    if problem.slopes is None:
        return None
    slant = np.where(problem.allowed, in_float64(problem.slant), 0.0)
    return np.pad(slant, ((0, 0), (0, 0), (0, 0), (0, keys - problem.M)))


class Scores:
    """The scores of one problem and what bounds them, each computed once, when asked for.

    Every attribute is the symbol of that name in the module's derivation.
    """

    def __init__(
        self, problem: Problem, inputs: Inexact, exact: Problem, slant: Array | None = None
    ) -> None:
        self.problem, self.inputs, self.slant = problem, inputs, slant
        self.rules = arithmetic.allowed(problem)
        self.slack = arithmetic.slack(problem)
        self.reference = Reference(exact)
        self.full = bool(problem.allowed.all())  # no key is forbidden
        self.sigma = abs(problem.sigma)
        added = problem.mask is not None and problem.mask.dtype != bool
        self.biased = added or slant is not None

    # What the problem is

    @cached_property
    def k(self) -> Array:
        """k, once for every query head.   (B, H, M, D)"""
        return definition.shared(self.problem.k, self.problem.H)

    @cached_property
    def size_of_k(self) -> Array:
        """|k|, and what keys may be larger by without what they have in common.   (B, H, M, D)"""
        return np.abs(self.k) + self.common

    @cached_property
    def common(self) -> Array:
        """|common|, once for every query head.   (1, H, 1, D)"""
        return np.abs(self.inputs.of_heads("common", self.problem))

    @cached_property
    def shift(self) -> Array | float:
        """|scale| <|q_i|, |common|>, by which all scores of a query may be off.   (B, H, N, 1)"""
        if not (self.inputs.any and self.common.any()):
            return 0.0
        return np.asarray(self.sigma * (np.abs(self.problem.q) @ self.common.swapaxes(-1, -2)))

    @cached_property
    def visible(self) -> Array:
        """1 where query i sees key j, else 0.   (B, H, N, M)"""
        return self.problem.allowed.astype(np.float64)

    @cached_property
    def count(self) -> Array:
        """How many keys query i sees.   (B, H, N, 1)"""
        return self.visible.sum(axis=-1, keepdims=True)

    @cached_property
    def live(self) -> Array:
        """1 where query i sees a key, 0 where it is idle.   (B, H, N, 1)"""
        return np.minimum(self.count, 1.0)

    def where_visible(self, x: Any) -> Any:
        """`x`, and 0 at forbidden keys."""
        return x if self.full else x * self.visible

    def over_visible(self, x: Array) -> Array:
        """sum_j x_jc over the keys that query i sees, x >= 0.   (B, H, N or 1, columns)"""
        return x.sum(axis=-2, keepdims=True) if self.full else self.visible @ x

    # The scores

    @cached_property
    def m(self) -> Array:
        """m_i = max_j s_ij, and 0 for an idle query.   (B, H, N, 1)"""
        return in_float64(definition.top(self.reference.scores))

    @cached_property
    def s(self) -> Array:
        """s_ij, and m_i at forbidden keys.   (B, H, N, M)"""
        s = in_float64(self.reference.scores)
        return s if self.full else np.where(self.problem.allowed, s, self.m)

    @cached_property
    def t(self) -> Array:
        """t_ij = |scale <q_i, k_j>|, and what keys have in common.   (B, H, N, M)"""
        alone = self.biased or self.problem.softcap is not None
        t = self.sigma * (self.problem.q @ self.k.swapaxes(-1, -2)) if alone else self.s
        return self.where_visible(np.abs(t) + self.shift)

    @cached_property
    def entering(self) -> Array:
        """|t + b| where a bias is capped as well, else |t|.   (B, H, N, M)"""
        if not (self.biased and self.problem.caps_bias):
            return self.t
        t = self.problem.sigma * (self.problem.q @ self.k.swapaxes(-1, -2))
        return self.where_visible(np.abs(t + self.problem.bias) + self.shift)

    @cached_property
    def mass(self) -> Array:
        """mass_ij = |scale| sum_c |q_ic| |k_jc|, of keys at their largest.   (B, H, N, M)"""
        exact = (self.sigma * np.abs(self.problem.q)) @ self.size_of_k.swapaxes(-1, -2)
        return self.where_visible(exact) + self.moved

    @cached_property
    def moved(self) -> Array | float:
        """What inexact q and k do to a score (`inexact`).   (B, H, N, M)"""
        if not self.inputs.any:
            return 0.0
        B_q, B_k = self.inputs.q, self.inputs.of_heads("k", self.problem)
        q, k = np.abs(self.problem.q), self.size_of_k
        moved = B_q @ (k + B_k).swapaxes(-1, -2) + q @ B_k.swapaxes(-1, -2)
        return np.asarray(self.where_visible(self.sigma * moved))

    @cached_property
    def eta(self) -> Array:
        """The error of a score.   (B, H, N, M)

        An eager score is stored when q and k are scaled (C_PRE), after the product
        and after the scaling (2), and after the bias (1).
        """
        r, D = self.rules, self.problem.D
        half = 0.5 * max(D - 1, 0)
        unit, each = r.u * sums.growth(D, r.u), r.u_each * (1 + 4 * r.u_each)
        eta = (unit * (1 + C_PRE + half) + each * C_PRE) * self.mass
        eta += (unit * (half + C_SCALE) + 2 * each) * (self.t + self.moved) + self.moved
        eta = eta if self.problem.caps_bias else self._capped(eta)
        if self.biased:
            total = self.entering if self.problem.caps_bias else np.abs(self.s) + self.shift
            added = self.problem.bias != 0  # to add nothing rounds nothing
            added = added if self.slant is None else added | (self.slant != 0)
            eta += self.where_visible((unit + each) * (total + self.moved) * added)
            eta += (unit * C_BIAS) * np.abs(self.problem.bias)
        if self.slant is not None:
            eta += self._slanted(self.slant, unit, each)
        eta = self._capped(eta) if self.problem.caps_bias else eta
        eta += max(1.0, self.sigma) * (2 * D * r.w + 3 * r.w_each)
        if r.flush:
            of_q = np.abs(self.problem.q).sum(axis=-1)[..., :, None]
            of_k = self.size_of_k.sum(axis=-1)[..., None, :]  # operands that are read as zero
            eta += (self.sigma * r.flush) * self.where_visible(of_q + of_k)
        return eta

    def _slanted(self, slant: Array, unit: float, each: float) -> Array:
        """What slopes add to the error of a score, beyond that of the whole bias.   (B, H, N, M)"""
        e, whole = np.abs(slant), self.problem.bias
        b = np.abs(whole - slant)
        total = self.entering if self.problem.caps_bias else np.abs(self.s) + self.shift
        first = np.maximum(np.abs(whole), np.maximum(total + b, total + e)) * (np.minimum(b, e) > 0)
        error = unit * (C_BIAS * (b + e - np.abs(whole)) + e) + 2 * each * e + (unit + each) * first
        return np.asarray(self.where_visible(error + 2 * (self.rules.w + self.rules.w_each)))

    def _capped(self, error: Array) -> Array:
        """What the cap makes of the error of what enters it."""
        if self.problem.softcap is None:
            return error
        found = capped.error(self.entering, error, self.problem, self.rules)
        return np.asarray(self.where_visible(found))

    # The exponents

    @cached_property
    def gap(self) -> Array:
        """m_i - s_ij, 0 at forbidden keys.   (B, H, N, M)"""
        return self.m - self.s

    @cached_property
    def R(self) -> Array:
        """How often a weight may be rescaled (Lemma 4).   (B, H, N, M)"""
        below = self.s if self.full else np.where(self.problem.allowed, self.s, -np.inf)
        margin = 2.0 * self.eta.max(axis=-1, keepdims=True, initial=0.0)
        return self.where_visible(sums.rescalings(below, margin))

    @cached_property
    def y(self) -> Array:
        """The error of the exponent beyond that of the score: y = x - eta.   (B, H, N, M)"""
        r = self.rules
        y = (r.u * C_GAP + r.u_each) * (self.gap + 2 * self.most_moved)
        y += (r.u * C_EXP) * (1 + self.R) + r.u_exp
        y += (r.u * C_TOP) * (np.abs(self.m) + self.most_moved)
        return y

    @property
    def most_moved(self) -> Array | float:
        """The most that inexact inputs do to a score of the row.   (B, H, N, 1)"""
        moved = self.moved
        if not isinstance(moved, np.ndarray):
            return moved
        return np.asarray(moved.max(axis=-1, keepdims=True, initial=0.0))

    @cached_property
    def x(self) -> Array:
        """The error of the exponent.   (B, H, N, M)"""
        return self.where_visible(self.eta + self.y)
