"""How far gradients may be from their exact values where 16 bits store all but the results exactly.

Lemma 7. Let y be a number of a format, and RN(x) the number of the format nearest to x. Then RN(x)
is no further from x than y is, so

    |RN(x) - y| <= 2 |x - y|,    and RN(x) = y where |x - y| < 2^-(p+1) |y|

So an array whose exact values are numbers of the format loses nothing when it is stored, whatever
the rounding model. In a row whose scores are zero because no product q_ic k_jc is anything else,
and whose n visible keys are a power of two, these arrays are

    exp(0) = 1    n    a = 1 / n    da    o    delta = sum_j da / n    da - delta    ds

if v and dout are small integers (times a power of two) such that n |da|, sum_j |da| and sum_j |v|
are at most 2^p. These errors of `flash` and `eager` remain:

    g = 2 u_exp / (1 - u_exp)     the fast exponentials of a weight and of its normaliser
    u |scale| sum |ds| |k|        eager: the other operand times its scale, or ds times it. A kernel
                                  that works in powers of two stores k scale log2(e)
    u |dq|                        eager: dq, before the other half of its scale. A power of four has
                                  exact halves
    2 u |ds|                      eager: ds, times the cap c and divided by it. The cap of 0 is 0,
                                  and its slope there is 1

Here the errors of float32 (`single` arithmetic) are carried from array to array: those of the
weights to o and delta, of delta to da - delta, and of that to ds, each stored once (Lemma 7).
"""

import numpy as np

from spec.attention import definition
from spec.attention.rounding.backward import Backward
from spec.attention.rounding.lattice import halved, live, unit
from spec.attention.rounding.reference import in_float64
from spec.attention.rounding.scores import Scores
from spec.formats import rounded
from spec.notation import HALF, Array, once


def exact_rows(scores: Scores) -> Array:
    """Rows in which a right program stores only exact numbers of 16 bits.   (B, H, N, 1)"""
    p = scores.problem
    v = definition.shared(p.v, p.H)
    most = 2.0**scores.rules.stored.p
    queries, keys = live(p)
    step = unit(p.v[keys]), unit(p.dout[queries])
    of_v = scores.over_visible(np.abs(v)).max(axis=-1, keepdims=True, initial=0.0) / step[0]
    da = scores.where_visible(np.abs(p.dout) @ np.abs(v).swapaxes(-1, -2) / (step[0] * step[1]))
    mass = scores.where_visible(np.maximum(scores.mass, np.abs(p.bias)))
    n = scores.count
    of_z = n * da.max(axis=-1, keepdims=True, initial=0.0) + da.sum(axis=-1, keepdims=True)
    zero = mass.max(axis=-1, keepdims=True, initial=0.0) == 0
    power = np.exp2(np.ceil(np.log2(np.maximum(n, 1)))) == np.maximum(n, 1)
    return np.asarray(zero & power & (of_z <= most) & (of_v <= most))


def is_exact(scores: Scores) -> bool:
    """Whether gradients flow through such rows alone, in 16 bits."""
    p = scores.problem
    if p.dtype not in HALF or p.merged or p.dlse is not None or scores.inputs.any:
        return False
    asked = p.dout.any(axis=-1, keepdims=True) & (scores.live > 0)
    if not asked.any() or scores.where_visible(scores.mass * asked).any():  # as nearly always
        return False
    return bool((exact_rows(scores) | ~asked).all())


class Exactly:
    """The bounds of the gradients of such a problem, each computed once, when asked for.

    The bounds of any problem (`backward`) hold as well, and may be smaller. single: those of this
    problem in float32.
    """

    def __init__(self, scores: Scores, single: Backward) -> None:
        self.scores, self.single, self.of_scores = scores, single, single.of_scores
        self.problem, self.rules = scores.problem, scores.rules

    def stored(self, error: Array, exact: Array) -> Array:
        """The error of an array that may be stored, where its exact values are of the format."""
        r = self.rules
        near = error < np.abs(exact) * r.stored.u / 2
        twice = np.where(exact == 0, 1 + 2 * r.stored.u, 2.0)
        return np.where(near, error, twice * error + r.w_cast)

    @once
    def wrong(self) -> Array:
        """The error of a weight.   (B, H, N, M)"""
        fast = 2 * self.rules.u_exp / (1 - self.rules.u_exp)
        a = self.of_scores.weights.a
        return self.scores.where_visible(self.stored(self.of_scores.again.wrong + fast * a, a))

    @once
    def of_delta(self) -> Array:
        """The error of delta.   (B, H, N, 1)"""
        forward, dout = self.of_scores.forward, np.abs(self.problem.dout)
        of_o = self.stored(forward.output + self.wrong @ forward.v_size, forward.o)
        from_output = (dout * of_o).sum(axis=-1, keepdims=True)
        error = self.of_scores.of_delta + np.maximum(from_output, 2 * self.of_products)
        return self.stored(error, self.of_scores.delta)

    @once
    def of_products(self) -> Array:
        """sum_j wrong_ij |da_ij|, what fast exponentials do to sums of a da.   (B, H, N, 1)"""
        return (self.wrong * np.abs(self.of_scores.da)).sum(axis=-1, keepdims=True)

    @once
    def of_ds(self) -> Array:
        """The error of ds, with what a maximum that is differentiated adds.   (B, H, N, M)

        Its residue is that of the exponentials alone: of weights that are stored on one side and
        not on the other, all else being exact.
        """
        b = self.of_scores
        of_z = self.stored(self.scores.where_visible(b.zeta + self.of_delta), b.Z)
        error = self.single.maximum.B_ds + self.wrong * b.Z + (b.weights.a + self.wrong) * of_z
        residue = (1 + 8 * self.rules.stored.u) * 2 * self.of_products
        error = self.stored(self.scores.where_visible(error + residue), b.ds)
        return self.scores.where_visible(error)

    @once
    def of_dt(self) -> Array:
        """The error of the gradient of a score before its cap.   (B, H, N, M)"""
        if self.problem.softcap is None:
            return self.of_ds
        ds = self.of_scores.ds
        return self.stored(self.of_ds + 2 * self.rules.u_each * (ds + self.of_ds), ds)

    @once
    def bias(self) -> Array:
        """B_ds, as ds is stored.   (B, H, N, M)"""
        ds = self.scores.reference.gradients.bias
        assert ds is not None
        return self._result(self.unstored, ds, self.single.bias, scaled=False)

    @property
    def unstored(self) -> Array:
        """B_ds before it is stored as a result.   (B, H, N, M)"""
        return self.of_dt if self.problem.caps_bias else self.of_ds

    @once
    def q(self) -> Array:
        """B_dq.   (B, H, N, D)"""
        k, sigma = self.scores.size_of_k, self.scores.sigma
        error = self.single.q + sigma * (self.of_dt @ k) + self._scaled(self._size @ k)
        return self._result(error, self.scores.reference.gradients.q, self.single.q)

    @once
    def k(self) -> Array:
        """B_dk.   (B, G, M, D)"""
        q, sigma = self.scores.size_of_q, self.scores.sigma
        size = self._gathered(self._size.swapaxes(-1, -2) @ q)
        error = self.single.k + self._gathered(sigma * (self.of_dt.swapaxes(-1, -2) @ q))
        error += self._scaled(size) + self._shared(sigma * size)
        return self._result(error, self.scores.reference.gradients.k, self.single.k)

    @once
    def v(self) -> Array:
        """B_dv.   (B, G, M, E)"""
        dout, a = np.abs(self.problem.dout), self.of_scores.weights.a
        error = self.single.v + self._gathered(self.wrong.swapaxes(-1, -2) @ dout)
        error += self._shared(self._gathered(a.swapaxes(-1, -2) @ dout))
        return self._result(error, self.scores.reference.gradients.v, self.single.v, scaled=False)

    @property
    def _size(self) -> Array:
        return self.of_scores.ds + self.of_dt

    def _gathered(self, x: Array) -> Array:
        return definition.gathered(x, self.problem.G)

    def _scaled(self, size: Array) -> Array:
        """The error from operands, or ds, that an eager program stores times a scale."""
        return self.rules.u_each * self.scores.sigma * size

    def _shared(self, size: Array) -> Array | float:
        """The error from storing the sum of each head that shares a key head."""
        r = self.rules
        return r.u_cast * size + r.w_cast if self.problem.G < self.problem.H else 0.0

    def _result(self, error: Array, exact: Array, single: Array, scaled: bool = True) -> Array:
        """The error of a result as it is stored; 0 where the bound in float32 is.

        scaled: the result is multiplied by the scale, perhaps in two halves.
        """
        r, y = self.rules, np.abs(in_float64(exact))
        if scaled and not halved(self.scores.sigma):
            error = error + r.u_each * y
        once_more = (1 + r.u_out) * error + r.u_out * y + r.w_out
        of_format = rounded(y, self.problem.dtype) == y
        budget = np.where(of_format, np.minimum(self.stored(error, y), once_more), once_more)
        return self.scores.slack * budget * (single > 0)
