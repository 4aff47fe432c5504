"""How far the output may be from its exact value.

Weights are computed as a_j (1 + e_j), up to a factor that the keys of a row share;
products and sums err by t_jc, the normaliser by p_j, all relative:

    o^_c = sum_j a_j (1 + e_j)(1 + t_jc) v_jc / sum_j a_j (1 + e_j)(1 + p_j)

Lemma 3 (the centred form). Subtract o_c, and use sum_j a_j (v_jc - o_c) = 0:

    o^_c - o_c = sum_j a_j [ e_j (v_jc - o_c) + (1 + e_j)(t_jc v_jc - p_j o_c) ]
                 / (1 + sum_j a_j [(1 + e_j)(1 + p_j) - 1])

It is an identity. Whatever error the keys of a row share (that of the maximum, of a
rescaling that hits all keys so far) cancels in the first term, as the normaliser
is computed from the same weights. Hence, with the symbols of `weights`,

    theta_ic = u sum_j heavy (C_WEIGHT + R) |v| + u (M - 1)(sum_j heavy |v| + |o|) / 2
    core_ic  = [ sum_j drift |v_jc - o_ic| + theta + phi |o| ] / (1 - kappa)
    B_ic     = core + C_DIV u (core + |o|), and one rounding to the dtype

where the second half of theta is Lemma 1, or Lemma 2 where that says more. Grades add
what they store (`arithmetic`), and each formula the underflow of its operations,
which is nothing unless numbers are near the smallest.

Lemma 5 (the hull). Computed weights are not negative, so o^ is, but for the rounding
of its sums, between the smallest and the largest visible value. Rows whose kappa is
above `CAPPED_ABOVE` are judged by that where it says more: their weights are hardly
determined by the problem.
"""

import numpy as np

from spec.attention import definition
from spec.attention.rounding import merged, sums
from spec.attention.rounding.arithmetic import C_DIV, C_WEIGHT
from spec.attention.rounding.reference import in_float64
from spec.attention.rounding.weights import SILENT_ABOVE, Weights
from spec.notation import Array, once

DIRECT_UP_TO = 400_000  # elements of |v_jc - o_ic|; above, Cauchy-Schwarz and products
UNEQUAL_UP_TO = 0.5
TILE = 4_000_000  # elements of a temporary array over (rows, M, E)


class Forward:
    """The bounds of the output of one problem, each computed once, when asked for.

    Every attribute is the symbol of that name in the module's derivation.
    """

    def __init__(self, weights: Weights) -> None:
        self.weights, self.scores = weights, weights.scores
        self.problem, self.rules = weights.problem, weights.rules

    @once
    def v(self) -> Array:
        """v, once for every query head.   (B, H, M, E)"""
        return definition.shared(self.problem.v, self.problem.H)

    @once
    def v_size(self) -> Array:
        """|v|, and the budget of an inexact v.   (B, H, M, E)"""
        return sums.plus(np.abs(self.v), self.inexact)

    @once
    def inexact(self) -> Array | float:
        """B_v, once for every query head.   (B, H, M, E), or 0 if v is exact"""
        return self.scores.inputs.of_heads("v", self.problem)

    @once
    def moved(self) -> Array | float:
        """sum_j a_ij B_v: what an inexact v does to the output.   (B, H, N, E)"""
        return self.weights.a @ np.asarray(self.inexact) if self.scores.inputs.any else 0.0

    @once
    def o(self) -> Array:
        """The exact output, near enough.   (B, H, N, E)"""
        return in_float64(self.scores.reference.o)

    @once
    def size_of_o(self) -> Array:
        """|o|.   (B, H, N, E)"""
        return np.abs(self.o)

    @once
    def theta(self) -> Array:
        """The error of sum_j a_ij v_jc, the weights being what they are.   (B, H, N, E)

        Lemma 1, or Lemma 2 with each light weight's own |v|, whichever says more. A
        cast weight rounds once more, an eager one when it is an exponential and
        when it is a quotient.
        """
        r, M = self.rules, self.problem.M
        unit = r.u * sums.growth(M, r.u)
        size = self.weights.heavy @ self.v_size
        half = 0.5 * (size + self.size_of_o)
        added = unit * sums.additions(M, r.cut) * half
        light = self.weights.heavy < r.u
        if light.any() and not r.cut:  # what is cut off may be more than what is added
            many = np.maximum(M - 1 - light.sum(axis=-1, keepdims=True), 0)
            tail = np.where(light, self.weights.heavy, 0.0) @ self.v_size
            added = np.minimum(added, unit * many * half + tail)
        rescaled = unit * (self.weights.rescaled @ self.v_size)
        products = unit * (C_WEIGHT + merged.of_products(self.problem))
        if self.problem.merged:
            added = added + merged.of_outputs(self.largest, r.u)
        return rescaled + (products + r.u_cast + r.u_each) * size + added + self._underflow

    @once
    def _underflow(self) -> Array:
        """What underflow does to sum_j a_ij v_jc.   (B, H, N, E)

        An exponential may flush to zero (relative to the largest), and does that to
        its term and to the normaliser; a cast weight is off by w_cast, a stored
        exponential and normaliser by w_each, a product by w, a stored sum by w_each.
        """
        r = self.rules
        lost = r.unit.tiny + r.w_cast + 2 * r.w_each
        return (
            lost * self.scores.over_visible(self.v_size)
            + (self.problem.M * r.unit.tiny) * self.size_of_o
            + ((2 * r.w) * self.scores.count + (r.flush + r.w_each))
        )

    @once
    def centred(self) -> Array:
        """sum_j drift_ij |v_jc - o_ic|.   (B, H, N, E)"""
        if self.o.size * self.problem.M > DIRECT_UP_TO:
            return sums.plus(self._centred_by_products, self._centred_moved)
        v = np.ascontiguousarray(self.v.swapaxes(-1, -2))  # the keys, of which there are many, last
        away = v[..., None, :, :] - self.o[..., None]
        np.abs(away, out=away)
        return sums.plus((away @ self.weights.drift[..., None])[..., 0], self._centred_moved)

    @once
    def _centred_moved(self) -> Array | float:
        """The same of what an inexact v adds to a value and to the output.   (B, H, N, E)"""
        if not self.scores.inputs.any:
            return 0.0
        return self.weights.drift @ np.asarray(self.inexact) + self.weights.drifts * self.moved

    @once
    def _centred_by_products(self) -> Array:
        """The same by Cauchy-Schwarz: sqrt(sum_j drift) sqrt(sum_j drift (v_jc - o_ic)^2).

        The square is expanded about the mean value, for matrix products alone; what
        that may cancel is added back.
        """
        mean = np.where(self._seen_by_any, self.v, 0.0).mean(axis=-2, keepdims=True)
        v, o = np.where(self._seen_by_any, self.v - mean, 0.0), self.o - mean
        squares, whole = self.weights.drift @ (v * v), o * o * self.weights.drifts
        away = squares - 2.0 * o * (self.weights.drift @ v) + whole
        lost = 4 * (self.problem.M + 8) * 2.0**-53 * (squares + whole)
        return np.sqrt(self.weights.drifts * (np.maximum(away, 0.0) + lost))

    @once
    def _seen_by_any(self) -> Array:
        """Keys that some query sees.   (B, H, M, 1)"""
        return np.expand_dims(self.problem.allowed.any(axis=-2), -1)

    @once
    def core(self) -> Array:
        """[ centred + theta + phi |o| ] / (1 - kappa), or the hull.   (B, H, N, E)"""
        size = sums.plus(self.size_of_o, self.moved)
        whole = self.centred + self.theta + self.weights.phi * size
        if not self.weights.capped.any():
            return sums.plus(whole / (1.0 - self.weights.kappa), self.moved)
        trusted: Array = np.less(self.weights.kappa, SILENT_ABOVE)
        core = sums.plus(whole / (1.0 - np.where(trusted, self.weights.kappa, 0.0)), self.moved)
        rows = np.nonzero(self.weights.capped[..., 0])
        hull = self._hull(*rows)
        core[rows] = np.where(trusted[rows], np.minimum(core[rows], hull), hull)
        return core

    def _hull(self, b: Array, h: Array, i: Array) -> Array:
        """Lemma 5, for some rows: the distance to the furthest visible value.   (rows, E)

        And rounding: twice the additions and the rescalings, for numerator and
        normaliser; a stored weight, or an exponential and its normaliser, likewise. Merged
        parts add up to as much as they may, but never to two that are one.
        """
        r, M = self.rules, self.problem.M
        low, high = self._visible(b, h, i)
        o = self.o[b, h, i]
        relative = 4 * (M + C_WEIGHT) * r.u * sums.growth(M, r.u) + 4 * r.u_cast
        relative += 2 * M * (r.unit.tiny + r.w_cast)
        unequal = np.minimum(self.weights.unequal, UNEQUAL_UP_TO)
        of_rows = np.broadcast_to(unequal, self.scores.live.shape)[b, h, i]
        sizes = (relative + of_rows) * np.maximum(np.abs(low), np.abs(high))
        return np.maximum(high - o, o - low) + sizes + 4 * M * (r.w + r.w_each) + r.flush

    def _visible(self, b: Array, h: Array, i: Array) -> tuple[Array, Array]:
        """The smallest and the largest visible value, for some rows.   (rows, E) each"""
        if self.scores.full:
            low, high = (sums.plus(self.v, x) for x in (-self.inexact, self.inexact))
            return low.min(axis=-2)[b, h], high.max(axis=-2)[b, h]
        M = self.problem.M
        low, high = np.empty((len(b), self.problem.E)), np.empty((len(b), self.problem.E))
        step = max(1, TILE // max(1, M * self.problem.E))
        for rows in (slice(x, x + step) for x in range(0, len(b), step)):
            v = self.v[b[rows], h[rows]]
            off = self.inexact[b[rows], h[rows]] if isinstance(self.inexact, np.ndarray) else 0.0
            seen = self.problem.allowed[b[rows], h[rows], i[rows]][..., None]
            high[rows] = np.where(seen, sums.plus(v, off), -np.inf).max(axis=-2)
            low[rows] = np.where(seen, sums.plus(v, -off), np.inf).min(axis=-2)
        return low, high

    @once
    def largest(self) -> Array:
        """max_j |v_jc| over the keys that query i sees, 0 where there is none.   (B, H, N, E)"""
        shape = self.o.shape
        if not self.problem.M:
            return np.zeros(shape)
        rows = np.indices(shape[:3]).reshape(3, -1)
        sizes = np.maximum(*map(np.abs, self._visible(*rows))).reshape(shape)
        return np.where(np.isfinite(sizes), sizes, 0.0)

    @once
    def accumulated(self) -> Array:
        """The error of o in the accumulator, before it is stored.   (B, H, N, E)"""
        r, slack = self.rules, self.scores.slack
        error = (slack * (1 + C_DIV * r.u)) * self.core
        error += (slack * C_DIV * r.u) * self.size_of_o + slack * r.w
        return error if self.scores.full else error * self.scores.live

    @once
    def output(self) -> Array:
        """The error of o as it is stored.   (B, H, N, E)"""
        r = self.rules
        if not r.u_out:
            return self.accumulated
        stored = (1 + r.u_out) * self.accumulated + (r.u_out * self.size_of_o + r.w_out)
        return stored if self.scores.full else stored * self.scores.live
