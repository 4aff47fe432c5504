"""How far the output may be from its exact value.

The implementation computes weights a_j (1 + e_j) up to a factor common to a row,
|e_j| <= epsilon_ij; multiplies and adds with relative errors t_j, normalises with p:

    o^_c = sum_j a_j (1 + e_j)(1 + t_jc) v_jc / sum_j a_j (1 + e_j)(1 + p_j)

Lemma 3 (the centred form). Subtract o_c, and use sum_j a_j (v_jc - o_c) = 0:

    o^_c - o_c = sum_j a_j [ e_j (v_jc - o_c) + (1 + e_j)(t_jc v_jc - p_j o_c) ]
                 / (1 + sum_j a_j [(1 + e_j)(1 + p_j) - 1])

It is an identity. Whatever error the keys of a row share (that of the maximum, of a
rescaling that hits all keys so far) cancels in the first term, as the normaliser
is computed from the same weights. Bound it from the inside out:

    mass_ij    = |scale| sum_c |q_ic| |k_jc|
    eta_ij     = u [(1 + C_PRE) mass + (D - 1)(mass + |t|) / 2 + C_SCALE |t|]
                 + u (|s| + C_BIAS |b|)                             the score
    x_ij       = eta + u [C_GAP (m - s) + C_TOP |m|] + u C_EXP (1 + R)    the exponent
    epsilon_ij = exp(x) - 1                                         the weight
    drift_ij   = a_ij epsilon_ij             heavy_ij = a_ij (1 + 2 epsilon_ij)
    phi_i      = sum_j min(u, heavy) - u + u sum_j heavy R          the sum (Lemma 2)
    kappa_i    = sum_j drift + phi           how far the row can be trusted
    theta_ic   = u sum_j heavy (C_WEIGHT + R) |v| + u (M - 1)(heavy |v| + |o|) / 2
    B_ic       = [ sum_j drift |v_jc - o_ic| + theta + phi |o| ] / (1 - kappa)

t = scale <q, k>, m = max_j s. Lemma 1 bounds the sums over weights in error by
those over `heavy`. Grades add what they store (`arithmetic`), and each formula the
underflow of its operations, which is nothing unless numbers are near the smallest.

Lemma 5 (the hull). Computed weights are not negative, so o^ is, but for the rounding
of its sums, between the smallest and the largest visible value. Rows whose kappa is
above `CAPPED_ABOVE` are judged by that where it says more: their weights are hardly
determined by the problem.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from spec import definition
from spec.notation import Array, Gradients, Problem
from spec.rounding import arithmetic, sums
from spec.rounding.arithmetic import (
    C_BIAS,
    C_DIV,
    C_EXP,
    C_GAP,
    C_LOG,
    C_PRE,
    C_SCALE,
    C_TOP,
    C_WEIGHT,
)
from spec.rounding.formats import FORMATS

CAPPED_ABOVE = 0.05  # the first-order terms are then within a tenth of the whole
SILENT_ABOVE = 0.95  # a gradient has no hull: beyond this, nothing is claimed
TRUSTED_UP_TO = 80.0  # exponents whose error is larger are bounded in logarithms
DIRECT_UP_TO = 400_000  # elements of |v_jc - o_ic|; above, Cauchy-Schwarz and products
TILE = 4_000_000  # elements of a temporary array over (rows, M, E)


class Reference:
    """The definition at the very numbers of `problem`, each part when it is asked for.

    In float64, or in long double where the problem itself is float64.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = definition.wide(problem) if arithmetic.widens(problem) else problem

    @cached_property
    def scores(self) -> Array:
        """s, and -inf at forbidden keys.   (B, H, N, M)"""
        return definition.scores(self.problem)

    @cached_property
    def weights(self) -> Array:
        """a.   (B, H, N, M)"""
        return definition.softmax(self.scores)

    @cached_property
    def o(self) -> Array:
        """The output.   (B, H, N, E)"""
        return definition.attention(self.problem)

    @cached_property
    def lse(self) -> Array:
        """The log-sum-exp, -inf for idle queries.   (B, H, N)"""
        return definition.lse(self.problem)

    @cached_property
    def gradients(self) -> Gradients:
        """The derivatives of <dout, o> by q, k, v and the scores."""
        return definition.gradients(self.problem)


def in_float64(x: Array) -> Array:
    """`x` for the evaluation of a bound, where float64 is plenty."""
    return x.astype(np.float64, copy=False)


class Forward:
    """The bounds of the forward pass of one problem, each computed once, when asked for.

    Every attribute is the symbol of that name in the module's derivation.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.rules = arithmetic.allowed(problem)
        self.reference = Reference(problem)
        self.slack = arithmetic.slack(problem)
        self.full = bool(problem.allowed.all())  # no key is forbidden
        self.sigma = abs(problem.sigma)
        self.biased = problem.mask is not None and problem.mask.dtype != bool

    # What the problem is

    @cached_property
    def k(self) -> Array:
        """k, once for every query head.   (B, H, M, D)"""
        return definition.shared(self.problem.k, self.problem.H)

    @cached_property
    def v(self) -> Array:
        """v, once for every query head.   (B, H, M, E)"""
        return definition.shared(self.problem.v, self.problem.H)

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

    @cached_property
    def v_size(self) -> Array:
        """|v|.   (B, H, M, E)"""
        return np.abs(self.v)

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
        """t_ij = |scale <q_i, k_j>|.   (B, H, N, M)"""
        t = self.sigma * (self.problem.q @ self.k.swapaxes(-1, -2)) if self.biased else self.s
        return self.where_visible(np.abs(t))

    @cached_property
    def mass(self) -> Array:
        """mass_ij = |scale| sum_c |q_ic| |k_jc|.   (B, H, N, M)"""
        return self.where_visible(
            (self.sigma * np.abs(self.problem.q)) @ np.abs(self.k).swapaxes(-1, -2)
        )

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
        eta += (unit * (half + C_SCALE) + 2 * each) * self.t
        if self.biased:
            eta += self.where_visible((unit + each) * np.abs(self.s))
            eta += (unit * C_BIAS) * np.abs(self.problem.bias)
        eta += max(1.0, self.sigma) * (2 * D * r.w + 3 * r.w_each)
        if r.flush:
            eta += (self.sigma * r.flush) * self._flushed_products
        return eta

    @cached_property
    def _flushed_products(self) -> Array:
        """sum_c |q_ic| + sum_c |k_jc|, for operands that are read as zero.   (B, H, N, M)"""
        of_q = np.abs(self.problem.q).sum(axis=-1)[..., :, None]
        return self.where_visible(of_q + np.abs(self.k).sum(axis=-1)[..., None, :])

    # The weights

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
        y = (r.u * C_GAP + r.u_each) * self.gap
        y += (r.u * C_EXP) * (1 + self.R)
        y += (r.u * C_TOP) * np.abs(self.m)
        return y

    @cached_property
    def x(self) -> Array:
        """The error of the exponent.   (B, H, N, M)"""
        return self.where_visible(self.eta + self.y)

    @cached_property
    def epsilon(self) -> Array:
        """The relative error of a weight, but for what its row shares.   (B, H, N, M)"""
        return np.expm1(np.minimum(self.x, TRUSTED_UP_TO))

    @cached_property
    def a(self) -> Array:
        """The weights.   (B, H, N, M)"""
        return in_float64(self.reference.weights)

    @cached_property
    def drift(self) -> Array:
        """a_ij epsilon_ij; where epsilon overflows, exp(x - gap).   (B, H, N, M)"""
        drift = self.a * self.epsilon
        if self.x.max(initial=0.0) > TRUSTED_UP_TO:
            unsure = self.x > TRUSTED_UP_TO
            drift = np.where(unsure, np.exp(np.minimum(self.x - self.gap, TRUSTED_UP_TO)), drift)
        return drift

    @cached_property
    def drifts(self) -> Array:
        """sum_j a_ij epsilon_ij.   (B, H, N, 1)"""
        return self.drift.sum(axis=-1, keepdims=True)

    @cached_property
    def heavy(self) -> Array:
        """a (1 + 2 epsilon), which bounds what is computed in sums over keys.   (B, H, N, M)"""
        return self.a + 2.0 * self.drift

    @cached_property
    def top_weight(self) -> Array:
        """max_j a_ij, which is exp(m - lse).   (B, H, N, 1)"""
        return self.a.max(axis=-1, keepdims=True, initial=0.0)

    @cached_property
    def phi(self) -> Array:
        """The error of the normaliser, relative; eager stores it.   (B, H, N, 1)"""
        u = self.rules.u
        few = np.minimum(self.heavy, u).sum(axis=-1, keepdims=True) - u * self.live
        rescaled = u * (self.heavy * self.R).sum(axis=-1, keepdims=True)
        unit = sums.growth(self.problem.M, u) * (1 + self.drifts)
        return unit * (few + rescaled) + self.rules.u_each

    @cached_property
    def kappa(self) -> Array:
        """How far the row can be trusted.   (B, H, N, 1)

        An exponential may flush to zero below the smallest normal number, relative
        to the largest weight.
        """
        return self.drifts + self.phi + self.problem.M * self.rules.unit.tiny

    @cached_property
    def capped(self) -> Array:
        """Rows whose weights are hardly determined.   (B, H, N, 1)"""
        return np.greater(self.kappa, CAPPED_ABOVE)

    # The output

    @cached_property
    def o(self) -> Array:
        """The exact output, near enough.   (B, H, N, E)"""
        return in_float64(self.reference.o)

    @cached_property
    def theta(self) -> Array:
        """The error of sum_j a_ij v_jc, the weights being what they are.   (B, H, N, E)

        Lemma 1, or Lemma 2 with each light weight's own |v|, whichever says more. A
        cast weight rounds once more, an eager one when it is an exponential and
        when it is a quotient.
        """
        r, M = self.rules, self.problem.M
        unit = r.u * sums.growth(M, r.u)
        size = self.heavy @ self.v_size
        half = 0.5 * (size + np.abs(self.o))
        added = unit * max(M - 1, 0) * half
        light = self.heavy < r.u
        if light.any():
            many = np.maximum(M - 1 - light.sum(axis=-1, keepdims=True), 0)
            tail = np.where(light, self.heavy, 0.0) @ self.v_size
            added = np.minimum(added, unit * many * half + tail)
        rescaled = (self.heavy * (C_WEIGHT + self.R)) @ self.v_size
        return unit * rescaled + added + (r.u_cast + 2 * r.u_each) * size + self._underflow

    @cached_property
    def _underflow(self) -> Array:
        """What underflow does to sum_j a_ij v_jc.   (B, H, N, E)

        An exponential may flush to zero (relative to the largest), and does that to
        its term and to the normaliser; a cast weight is off by w_cast, as an
        exponential (flash) or as a weight (eager); a product by w, a stored sum by w_each.
        """
        r = self.rules
        lost = r.unit.tiny + r.w_cast * (3.0 if r.u_each else self.top_weight)
        return (
            lost * self.over_visible(self.v_size)
            + self.problem.M * r.unit.tiny * np.abs(self.o)
            + (2 * r.w) * self.count
            + (r.flush + r.w_each)
        )

    @cached_property
    def centred(self) -> Array:
        """sum_j drift_ij |v_jc - o_ic|.   (B, H, N, E)"""
        if self.o.size * self.problem.M > DIRECT_UP_TO:
            return self._centred_by_products
        away = np.abs(self.v[..., None, :, :] - self.o[..., :, None, :])
        return np.einsum("bhij,bhijc->bhic", self.drift, away)

    @cached_property
    def _centred_by_products(self) -> Array:
        """The same by Cauchy-Schwarz: sqrt(sum_j drift) sqrt(sum_j drift (v_jc - o_ic)^2).

        The square is expanded about the mean value, for matrix products alone; what
        that may cancel is added back.
        """
        mean = np.where(self._seen_by_any, self.v, 0.0).mean(axis=-2, keepdims=True)
        v, o = np.where(self._seen_by_any, self.v - mean, 0.0), self.o - mean
        squares, whole = self.drift @ (v * v), o * o * self.drifts
        away = squares - 2.0 * o * (self.drift @ v) + whole
        lost = 4 * (self.problem.M + 8) * 2.0**-53 * (squares + whole)
        return np.sqrt(self.drifts * (np.maximum(away, 0.0) + lost))

    @cached_property
    def _seen_by_any(self) -> Array:
        """Keys that some query sees.   (B, H, M, 1)"""
        return self.problem.allowed.any(axis=-2)[..., None]

    @cached_property
    def core(self) -> Array:
        """[ centred + theta + phi |o| ] / (1 - kappa), or the hull.   (B, H, N, E)"""
        whole = self.centred + self.theta + (self.phi + self.rules.u_each) * np.abs(self.o)
        if not self.capped.any():
            return whole / (1.0 - self.kappa)
        trusted = self.kappa < SILENT_ABOVE
        core = whole / (1.0 - np.where(trusted, self.kappa, 0.0))
        rows = np.nonzero(self.capped[..., 0])
        hull = self._hull(*rows)
        core[rows] = np.where(trusted[rows], np.minimum(core[rows], hull), hull)
        return core

    def _hull(self, b: Array, h: Array, i: Array) -> Array:
        """Lemma 5, for some rows: the distance to the furthest visible value.   (rows, E)

        And rounding: twice the additions and the rescalings, for numerator and
        normaliser; a stored weight, or an exponential and its normaliser, likewise.
        """
        r, M = self.rules, self.problem.M
        low, high = np.empty((len(b), self.problem.E)), np.empty((len(b), self.problem.E))
        step = max(1, TILE // max(1, M * self.problem.E))
        for rows in (slice(x, x + step) for x in range(0, len(b), step)):
            v = self.v[b[rows], h[rows]]
            seen = self.problem.allowed[b[rows], h[rows], i[rows]][..., None]
            high[rows] = np.where(seen, v, -np.inf).max(axis=-2)
            low[rows] = np.where(seen, v, np.inf).min(axis=-2)
        o = self.o[b, h, i]
        relative = 4 * (M + C_WEIGHT) * r.u * sums.growth(M, r.u) + 4 * r.u_cast
        relative += 2 * M * (r.unit.tiny + r.w_cast)
        sizes = relative * np.maximum(np.abs(low), np.abs(high))
        return np.maximum(high - o, o - low) + sizes + 2 * M * r.w + r.flush

    @cached_property
    def accumulated(self) -> Array:
        """The error of o in the accumulator, before it is stored.   (B, H, N, E)"""
        r = self.rules
        error = (1 + C_DIV * r.u) * self.core + (C_DIV * r.u) * np.abs(self.o) + r.w
        return self.slack * (error if self.full else error * self.live)

    @cached_property
    def output(self) -> Array:
        """The error of o as it is stored.   (B, H, N, E)"""
        r = self.rules
        if not r.u_out:
            return self.accumulated
        stored = (1 + r.u_out) * self.accumulated + r.u_out * np.abs(self.o) + r.w_out
        return stored if self.full else stored * self.live

    # The weights and their sums

    @cached_property
    def normaliser(self) -> Array:
        """rho_i: what the keys of a row share, when its log-sum-exp was stored.   (B, H, N, 1)

        rho = phi + u (C_DIV + 2 |lse| + C_LOG (1 + log L)), where L = exp(lse - m) <= M.
        """
        log_L = float(np.log(max(self.problem.M, 1)))
        lse = np.abs(self.m) + log_L
        return self.phi + self.rules.u * (C_DIV + C_LOG * (1 + log_L) + 2 * lse)

    @cached_property
    def weights(self) -> Array:
        """The error of a weight as it is stored.   (B, H, N, M)

        A weight is off by its own error less the mean error of its row:

            |a^_j - a_j| <= a_j [ epsilon_j - 2 drift_j + sum_k drift_k + rho ] / (1 - kappa - rho)

        and by no more than what keeps it between 0 and 1.
        """
        r = self.rules
        spread = self.epsilon - 2.0 * (self.drift - self.a * self.y)
        spread += self.drifts + self.normaliser
        room = 1.0 - np.minimum(self.kappa + self.normaliser, SILENT_ABOVE)
        error = self.a * spread / room
        if self.capped.any():
            most = np.maximum(self.a, 1 - self.a) + 4 * self.problem.M * r.u
            error = np.where(self.capped, np.minimum(most, self._trusted(error)), error)
        cast = r.u_out + 2 * r.u_each
        error = (1 + cast) * error + cast * self.a + (r.unit.tiny + r.w_out + 2 * r.w_each)
        return self.where_visible(self.slack * error)

    def _trusted(self, error: Array) -> Array:
        """`error`, and no bound at all in rows beyond trust."""
        beyond = self.kappa + self.normaliser >= SILENT_ABOVE
        return np.where(beyond, np.inf, error)

    @cached_property
    def row_sum(self) -> Array:
        """The error of the sum of the stored weights of a row.   (B, H, N)

        Scores drop out: sum_j e_j / sum_j e_j = 1 but for the exponentials, twice where
        the weights are exp(s - lse), and the roundings of the sum and of storing.
        The last term is the reader's own sum, in float64.
        """
        r, M = self.rules, self.problem.M
        moved = np.expm1(np.minimum(2.0 * self.where_visible(self.y), 1.0))
        sums_to = 1.0 + (moved * self.a).sum(axis=-1, keepdims=True) + 2.0 * self.normaliser
        stored = (1 + r.u_out) * (1 + 2 * r.u_each) - 1 + M * 2.0**-53
        error = (sums_to - 1) + stored * sums_to
        error += self.count * (r.unit.tiny + r.w_out + 2 * r.w_each)
        return (self.slack * error * self.live)[..., 0]

    def log_sum(self, dtype: str) -> Array:
        """The error of the log-sum-exp, as it is stored in `dtype`.   (B, H, N)

        lse^ = log sum_j exp(s_j)(1 + e_j) errs by log(1 + sum_j a_j e_j), so by at most
        kappa / (1 - kappa); and, as it moves no more than the scores do, by max_j x_j.
        """
        stored = FORMATS[dtype]
        mean = np.minimum(self.drifts, 0.5)
        mean = np.where(self.drifts < 0.5, mean / (1 - mean), np.inf)
        most = self.x.max(axis=-1, keepdims=True, initial=0.0)
        error = self.slack * (np.minimum(mean, most) + self.normaliser)[..., 0]
        lse = np.where(self.problem.idle, 0.0, np.abs(in_float64(self.reference.lse)))
        return (error + stored.u * (error + lse) + stored.w) * self.live[..., 0]
