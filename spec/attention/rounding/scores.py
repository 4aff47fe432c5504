"""How far a score may be from its exact value.

Write t = scale <q_i, k_j>, m_i = max_j s_ij, and

    mass_ij = |scale| sum_c |q_ic| |k_jc|
    eta_ij  = u [(1 + C_PRE) mass + (D - 1)(mass + |t|) / 2 + C_SCALE |t|]
              + u (|s| + C_BIAS |b| + (1 + C_BIAS) |e|)

A cap c makes of t the score cap(t) = c y, y = tanh(t / c), and of its error T, the first line of
eta, the error (`capped`)

    lambda T + lambda u C_RATIO |t| + u C_TANH |c y|,    lambda = sup cap' within T of t

which takes the place of T; or of eta, where a bias is capped as well. As cap' is at most 1, what is
damped is never made larger.

The first line of eta is Lemma 1 for <q_i, k_j>, whatever of the scale is multiplied in
before, and the scale; the second is the bias: b is what a mask adds, and e what slopes do, of which
`slanted` says more.
"""

from typing import Any

import numpy as np

from spec.attention import definition
from spec.attention.notation import Problem
from spec.attention.rounding import arithmetic, capped, sums
from spec.attention.rounding.arithmetic import C_BIAS, C_PRE, C_SCALE
from spec.attention.rounding.inexact import Inexact
from spec.attention.rounding.lattice import exact_scores
from spec.attention.rounding.reference import Reference, in_float64
from spec.attention.rounding.slanted import Slanted
from spec.notation import Array, once


class Scores:
    """The scores of one problem and what bounds them, each computed once, when asked for.

    Every attribute is the symbol of that name in the module's derivation.
    """

    def __init__(
        self, problem: Problem, inputs: Inexact, exact: Problem, slant: Slanted | None = None
    ) -> None:
        self.problem, self.inputs, self.slant = problem, inputs, slant
        self.rules = arithmetic.allowed(problem)
        self.slack = arithmetic.slack(problem)
        self.reference = Reference(exact)
        self.full = bool(problem.allowed.all())  # no key is forbidden
        self.sigma = abs(problem.sigma)

    # What the problem is

    @once
    def k(self) -> Array:
        """k, once for every query head.   (B, H, M, D)"""
        return definition.shared(self.problem.k, self.problem.H)

    @once
    def size_of_k(self) -> Array:
        """|k|, and what keys may be larger by without what they have in common.   (B, H, M, D)"""
        return sums.plus(np.abs(self.k), self.common)

    @once
    def size_of_q(self) -> Array:
        """|q|.   (B, H, N, D)"""
        return np.abs(self.problem.q)

    @once
    def common(self) -> Array | float:
        """|common|, once for every query head.   (1, H, 1, D), or 0"""
        return np.abs(self.inputs.of_heads("common", self.problem))

    @once
    def shift(self) -> Array | float:
        """|scale| <|q_i|, |common|>, by which all scores of a query may be off.   (B, H, N, 1)"""
        if not isinstance(self.common, np.ndarray) or not self.common.any():
            return 0.0
        return np.asarray(self.sigma * (self.size_of_q @ self.common.swapaxes(-1, -2)))

    @once
    def visible(self) -> Array:
        """1 where query i sees key j, else 0.   (B, H, N, M)"""
        return self.problem.allowed.astype(np.float64)

    @once
    def count(self) -> Array:
        """How many keys query i sees.   (B, H, N, 1)"""
        if self.full:
            return np.full((*self.problem.q.shape[:3], 1), float(self.problem.M))
        return self.visible.sum(axis=-1, keepdims=True)

    @once
    def live(self) -> Array:
        """1 where query i sees a key, 0 where it is idle.   (B, H, N, 1)"""
        return np.minimum(self.count, 1.0)

    def where_visible(self, x: Any) -> Any:
        """`x`, and 0 at forbidden keys."""
        return x if self.full else x * self.visible

    def over_visible(self, x: Array) -> Array:
        """sum_j x_jc over the keys that query i sees, x >= 0.   (B, H, N or 1, columns)"""
        return x.sum(axis=-2, keepdims=True) if self.full else self.visible @ x

    # The scores; what says nothing of forbidden keys is any number there

    @once
    def m(self) -> Array:
        """m_i = max_j s_ij, and 0 for an idle query.   (B, H, N, 1)"""
        return in_float64(self.reference.top)

    @once
    def masked(self) -> Array:
        """s_ij, and -inf at forbidden keys.   (B, H, N, M)"""
        return in_float64(self.reference.scores)

    @once
    def s(self) -> Array:
        """s_ij, and m_i at forbidden keys.   (B, H, N, M)"""
        return self.masked if self.full else np.where(self.problem.allowed, self.masked, self.m)

    @once
    def t(self) -> Array:
        """t_ij = |scale <q_i, k_j>|, and what keys have in common.   (B, H, N, M)"""
        alone = self.problem.biased or self.problem.softcap is not None
        t = self.sigma * (self.problem.q @ self.k.swapaxes(-1, -2)) if alone else self.s
        return sums.plus(np.abs(t), self.shift)

    @once
    def entering(self) -> Array:
        """|t + b| where a bias is capped as well, else |t|.   (B, H, N, M)"""
        if not (self.problem.biased and self.problem.caps_bias):
            return self.t
        t = self.problem.sigma * (self.problem.q @ self.k.swapaxes(-1, -2))
        return sums.plus(np.abs(t + self.problem.bias), self.shift)

    @once
    def mass(self) -> Array:
        """mass_ij = |scale| sum_c |q_ic| |k_jc|, of keys at their largest.   (B, H, N, M)"""
        exact = (self.sigma * self.size_of_q) @ self.size_of_k.swapaxes(-1, -2)
        return sums.plus(exact, self.moved)

    @once
    def moved(self) -> Array | float:
        """The error of a score from inexact q and k (`inexact`).   (B, H, N, M)"""
        if not self.inputs.any:
            return 0.0
        B_q, B_k = self.inputs.q, np.asarray(self.inputs.of_heads("k", self.problem))
        moved = B_q @ (self.size_of_k + B_k).swapaxes(-1, -2)
        moved += self.size_of_q @ B_k.swapaxes(-1, -2)
        return np.asarray(self.where_visible(self.sigma * moved))

    @once
    def exact(self) -> bool:
        """Whether an eager program stores scores without an error (`lattice`)."""
        few = bool(self.rules.u_each) and not self.inputs.any
        return few and exact_scores(self.problem, self.mass, self.rules.stored)

    @once
    def eta(self) -> Array:
        """The error of a score, 0 at forbidden keys.   (B, H, N, M)

        An eager score is stored when q and k are scaled (C_PRE), after the product
        and after the scaling (2), and after the bias (1); an exact one when one of
        q and k is scaled.
        """
        r, D = self.rules, self.problem.D
        half = 0.5 * sums.additions(D, r.cut)
        unit, each = r.u * sums.growth(D, r.u), r.u_each * (1 + 4 * r.u_each)
        before, after = (1, 0) if self.exact else (C_PRE, 2)
        eta = (unit * (1 + C_PRE + half) + each * before) * self.mass
        of_t = (unit * (half + C_SCALE) + each * after) * sums.plus(self.t, self.moved)
        eta += sums.plus(of_t, self.moved)
        eta = eta if self.problem.caps_bias else self._capped(eta)
        if self.problem.biased:
            added = self.problem.bias != 0  # to add nothing rounds nothing
            added = added if self.slant is None else added | (self.slant.product != 0)
            eta += (unit + each) * self._total * added
            eta += (unit * C_BIAS) * np.abs(self.problem.bias)
        if self.slant is not None:
            whole = self.entering if self.problem.caps_bias else np.abs(self.s) + self.shift
            eta += self.slant.error(self.problem.bias, whole + self.lifted, r, unit, each)
        eta = self._capped(eta) if self.problem.caps_bias else eta
        lost = max(1.0, self.sigma) * (2 * D * r.w + 3 * r.w_each)
        if not r.flush:
            return np.asarray(self.where_visible(eta + lost))
        of_q = (self.sigma * r.flush) * self.size_of_q.sum(axis=-1)[..., :, None]
        of_k = (self.sigma * r.flush) * self.size_of_k.sum(axis=-1)[..., None, :]
        eta += (lost + of_q) + of_k  # operands that are read as zero
        return np.asarray(self.where_visible(eta))

    @property
    def lifted(self) -> Array | float:
        """The number that slopes may add to all scores of a query.   (B or 1, H, N, 1), or 0"""
        return 0.0 if self.slant is None else self.slant.lifted

    @property
    def _total(self) -> Array:
        """The largest that a score, or what enters the cap, may be."""
        total = self.entering if self.problem.caps_bias else sums.plus(np.abs(self.s), self.shift)
        return sums.plus(sums.plus(total, self.lifted), self.moved)

    def _capped(self, error: Array) -> Array:
        """What the cap makes of the error of what enters it."""
        if self.problem.softcap is None:
            return error
        return capped.error(self.entering, error, self.problem, self.rules)
