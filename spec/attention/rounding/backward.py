"""How far the gradients of q, k and v may be from their exact values.

With the symbols of `score_gradients` and `maximum`, and sum(A, S) for Lemma 1,

    B_dv = wrong^T |dout| + sum(most^T |dout|, dv)
    B_dk = |scale| B_ds^T |q| + sum(|scale| (|ds| + B_ds)^T |q|, dk) + C_SCALE u |dk|
    B_dq = |scale| [ (own |Z| + most zeta + C_DS u |ds|) |k|
           + B_delta (|sum_j a k| + wrong |k|) + residue max_j top |k| ]
           + (shared + C_SCALE u) |dq|
           + sum(|scale| (|ds| + B_ds) |k|, dq)

A cap multiplies each ds by its slope, as it flows on to q and k (`capped`): own |Z|, B_ds and all
other factors of a key or a query by slope + B_slope, and to |ds| (1 + shared) it adds
B_slope, and a rounding.

The last is the centred form of the backward pass: what a row shares multiplies dq
itself, not |ds| |k|; and delta, being one number a row, multiplies the mean key. With
shared key heads, B_dv and B_dk add up over the queries of all the heads of a group.

The weight of a sink may be what a gate leaves, as in o = g o', with g = sigmoid(lse - t) and o' the
output without the sink. Autograd then multiplies <dout, o'> by g (1 - g). The error of the
exponential in g is relative to 1 - g, as that of any weight; but the sum 1 + exp, the reciprocal,
and storing g are relative to g, so that 1 - g is off by up to

    gated = (C_DIV + 1) u, and a storing if eager

however small it is. Its factor is Z of the sink, and dt gains gated (|Z| + zeta + B_delta).
"""

import numpy as np

from spec.attention import definition
from spec.attention.rounding import capped, merged, sums
from spec.attention.rounding.arithmetic import C_DIV, C_DS, C_INTO, C_PRE, C_SCALE
from spec.attention.rounding.maximum import Maximum, furthest
from spec.attention.rounding.reference import in_float64
from spec.attention.rounding.score_gradients import ScoreGradients
from spec.notation import Array, once


class Backward:
    """The bounds of the gradients of one problem, each computed once, when asked for."""

    def __init__(self, of_scores: ScoreGradients) -> None:
        self.of_scores, self.forward = of_scores, of_scores.forward
        self.maximum = Maximum(of_scores)
        self.weights, self.scores = of_scores.weights, of_scores.scores
        self.problem, self.rules = of_scores.problem, of_scores.rules

    @once
    def q(self) -> Array:
        """B_dq.   (B, H, N, D)"""
        s, b, r, M = self.scores, self.of_scores, self.rules, self.problem.M
        m = self.maximum
        B_k = s.inputs.of_heads("k", self.problem)
        k, dq = sums.plus(s.size_of_k, B_k), np.abs(in_float64(s.reference.gradients.q))
        own = b.again.own * b.Z + b.again.most * b.zeta + (C_DS * r.u) * b.ds
        own = sums.plus(own, b.through_lse.of_weights)
        own = self._passed(sums.plus(own, m.cast))
        mean = sums.plus(np.abs(self._flat(self.weights.a) @ s.k), s.common)
        if self.problem.dlse is not None:
            dq = dq + 2 * s.sigma * b.through_lse.size * mean
        mean += self._passed(b.again.wrong, self.weights.a) @ k
        size = s.sigma * (self.size @ k)
        error = s.sigma * (own @ k + b.of_delta * mean)
        error += s.sigma * m.residue * furthest(self._passed(m.top, m.top), k)
        if isinstance(B_k, np.ndarray):
            error += s.sigma * (self.size @ B_k)
        error += (b.again.shared / b.again.room + C_SCALE * r.u) * dq
        error += sums.of_any_order(
            size, dq, M, u=r.u, w=r.w, count=s.count, products=C_INTO, cut=r.cut
        )
        error += m.lost_scaled * s.over_visible(k) + r.flush * s.sigma * self._ds_sums(-1)
        return self._stored(error, dq, s.live, b.again.silent)

    @once
    def k(self) -> Array:
        """B_dk.   (B, G, M, D)"""
        s, m, r = self.scores, self.maximum, self.rules
        dk = np.abs(in_float64(s.reference.gradients.k))
        q = s.size_of_q + s.inputs.q if s.inputs.any else s.size_of_q
        moved = s.sigma * (self._passed(sums.plus(m.B_ds, m.cast)).swapaxes(-1, -2) @ q)
        if s.inputs.any:
            moved += s.sigma * (self.size.swapaxes(-1, -2) @ s.inputs.q)
        size = self._gathered(s.sigma * (self.size.swapaxes(-1, -2) @ q))
        error = self._gathered(moved + r.flush * s.sigma * self._ds_sums(-2))
        error += (C_SCALE * r.u) * dk + m.lost_scaled * self._over_queries(q)
        error += self._added(size, dk, C_INTO)
        return self._stored(error, dk, self.seen, self.silent_keys)

    @once
    def v(self) -> Array:
        """B_dv; an eager dout / L may underflow, and meets an exponential.   (B, G, M, E)"""
        s, b, r = self.scores, self.of_scores, self.rules
        dv = np.abs(in_float64(s.reference.gradients.v))
        wrong = b.again.wrong
        stored = np.where(b.again.by_intervals, b.again.most, self.weights.a) if r.u_cast else 0.0
        wrong = sums.plus(wrong, (r.u_cast + 2 * r.u_each) * stored)
        error = self._gathered(wrong.swapaxes(-1, -2) @ b.g)
        if s.inputs.any:
            error += self._gathered(self.weights.a.swapaxes(-1, -2) @ s.inputs.dout)
        if r.w_cast:
            error += 3 * r.w_cast * self._over_queries(b.g)
        error += (r.flush + r.w_each) * self.seen_by
        products = 1.0 + merged.of_products(self.problem)
        error += self._added(self._gathered(b.again.most.swapaxes(-1, -2) @ b.g), dv, products)
        return self._stored(error, dv, self.seen, self.silent_keys)

    @once
    def bias(self) -> Array:
        """B_ds, as ds is stored.   (B, H, N, M)"""
        b, m = self.of_scores, self.maximum
        error, ds = sums.plus(m.B_ds, m.cast), b.ds
        if self.problem.caps_bias:
            error, ds = self._passed(error), self._flat(ds)
        return self._stored(error + m.lost, ds, self.scores.visible, b.again.silent)

    @property
    def of_the_sink(self) -> Array:
        """B_ds of the last key, a sink, which is stored in float32, unless eager.   (B, H, N, 1)"""
        b, m = self.of_scores, self.maximum
        if self.rules.u_each:
            return self.bias[..., -1:] + self.scores.slack * self.gated
        error = self.scores.slack * ((m.B_ds + m.lost)[..., -1:] + self.gated)
        return np.where(b.again.silent, np.inf, error) if b.again.silent.any() else error

    @property
    def gated(self) -> Array:
        """The error that ds of a sink gains if its weight is 1 - g.   (B, H, N, 1)"""
        b, r = self.of_scores, self.rules
        factor = (b.Z + b.zeta)[..., -1:] + b.of_delta
        return ((C_DIV + 1) * r.u + r.u_each) * factor

    @property
    def unstored(self) -> Array:
        """B_ds of what is added up in float32, unless it is eager.   (B, H, N, M)"""
        silent, m = self.of_scores.again.silent, self.maximum
        if self.rules.u_each:
            return self.bias
        error = sums.plus(m.B_ds, m.cast)
        error = self._passed(error) if self.problem.caps_bias else error
        error = self.scores.where_visible(self.scores.slack * (error + m.lost))
        return np.where(silent & self.problem.allowed, np.inf, error) if silent.any() else error

    # Through the cap

    @once
    def slopes(self) -> tuple[Array, Array]:
        """The slope of the cap, and how far a computed one is from it.   (B, H, N, M) each"""
        c = self.problem.softcap
        assert c is not None
        return capped.slopes(self.scores.entering, self.scores.eta, c, self.rules)

    def _flat(self, x: Array) -> Array:
        """`x` times the slope of the cap; `x` where there is none."""
        return x if self.problem.softcap is None else x * self.slopes[0]

    def _passed(self, error: Array, exact: Array | None = None) -> Array:
        """The error that is left behind the cap of what is off by `error`; of ds, or `exact`."""
        if self.problem.softcap is None:
            return error
        b, (slope, off) = self.of_scores, self.slopes
        size = b.ds * (1 + b.again.shared / b.again.room) if exact is None else exact
        rounded = self.rules.u + self.rules.u_each
        lost = self.rules.w + self.rules.w_each
        return error * (slope + off) + size * (off + rounded * (slope + off)) + lost

    @once
    def size(self) -> Array:
        """|dt| and its error: of ds, as it is multiplied by keys and queries.   (B, H, N, M)"""
        return (
            self.maximum.size
            if self.problem.softcap is None
            else self._passed(self.maximum.B_ds) + self._flat(self.of_scores.ds)
        )

    # Sums over the queries that share a key

    def _gathered(self, x: Array) -> Array:
        """The sum over the query heads of each key head: (B, H, ...) to (B, G, ...)."""
        return definition.gathered(x, self.problem.G) if self.problem.G < self.problem.H else x

    def _over_queries(self, x: Array) -> Array:
        """sum_i x_ic over the queries that see a key.   (B, G, M or 1, columns)"""
        if self.scores.full:
            return self._gathered(x.sum(axis=-2, keepdims=True))
        return self._gathered(self.scores.visible.swapaxes(-1, -2) @ x)

    def _ds_sums(self, axis: int) -> Array:
        """sum |ds| over keys (axis -1) or queries (axis -2).   (B, H, N or M, 1)"""
        return self.size.sum(axis=axis)[..., None]

    def _added(self, size: Array, total: Array, products: float) -> Array:
        """Lemma 1 over the queries of a group; a cast sum of each head is stored before.

        size: (B, G, M, columns), the sums of sizes; total: the sums.
        """
        r = self.rules
        stored = r.u_cast * size if self.problem.G < self.problem.H else 0.0
        terms = self.problem.N * (self.problem.H // max(self.problem.G, 1))
        return stored + sums.of_any_order(
            size, total, terms, u=r.u, w=r.w, count=self.seen_by, products=products, cut=r.cut
        )

    @once
    def seen_by(self) -> Array:
        """How many queries see a key.   (B, G, M, 1)"""
        return self._gathered(self.scores.visible.sum(axis=-2)[..., None])

    @once
    def seen(self) -> Array:
        """1 where some query sees the key, else 0.   (B, G, M, 1)"""
        return np.minimum(self.seen_by, 1.0)

    @once
    def silent_keys(self) -> Array:
        """Keys that some silent row sees.   (B, G, M, 1)"""
        if not self.of_scores.again.silent.any():
            return np.zeros((1, 1, 1, 1), dtype=bool)
        touched = np.logical_and(self.of_scores.again.silent, self.problem.allowed).sum(axis=-2)
        return np.greater(self._gathered(touched[..., None]), 0)

    def _stored(self, error: Array, exact: Array, there: Array, silent: Array) -> Array:
        """`error`, and the storing of the result.

        Eager stores it before its scaling as well; and flash and eager may store it
        for each query head, before the sum over those that share a key head.

        there: 0 where the result is exactly zero, else 1.
        silent: where nothing is claimed, and the budget is infinite.
        """
        r = self.rules
        cast = r.u_out + C_PRE * r.u_each
        group = self.problem.H // max(self.problem.G, 1)
        underflow = r.w_out + group * (1 + self.scores.sigma) * r.w_cast
        error = (1 + cast) * error + cast * exact + underflow
        budget = (self.scores.slack * error) * there
        return np.where(silent & (there > 0), np.inf, budget) if silent.any() else budget
