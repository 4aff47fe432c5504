"""How far a right merge may stray.

The arithmetic is that of `spec.attention.rounding.arithmetic`: which grade stores what. As in
`spec.feed_forward.rounding`, u is the sum of two unit roundoffs, as the reference rounds too: that
of the accumulator, which is the format of every lse, and that of the reference.

Write l_i for lse_i, m for the larger one, l for lse and s = exp(l - m), which lies in [1, 2]. The
exponential may be one of base two, of l_i log2 e, and what it is taken of may have been shifted
by m, or by l itself.

Lemma 1 (the sum). exp(l_i - m) is off by a factor exp(a_i), and s by one of exp(sigma):

    a_i = u (C_EXP + g_i + m - l_i)    g_i = C_BITS (|l_i| + |m|), and 0 where l_i = m
    sigma = w_1 a_1 + w_2 a_2 + u

as the difference rounds, by u of itself, after both numbers were put in bits. Equal numbers
become equal numbers, whose difference is 0.

Lemma 2 (the logarithm). l = m + log s, and may have been put in bits and back:

    eta = sigma + u (C_LOG log s + |l| + C_BITS (|m| + |l|))

The form l_1 - log sigmoid(l_1 - l_2), of ring attention, loses the rounding of the difference
and of a logarithm of that size: C_FAR u |l_1 - l_2| more.

Lemma 3 (the weights). w_i = exp(l_i - m) / s, or exp(l_i - l) of an l that was rounded first. The
second form has the error of parts that were normalised before the merge, u |l| of themselves:

    omega_i = sigma + u (g_i + |l| + l - l_i + C_LOG log s + C_EXP + C_DIV + 1)

which is no less than a_i + sigma + C_DIV u of the quotient. A weight is within w_i (exp(omega_i)
- 1), and what is granted a weight of 16 bits on its way into a product.

Lemma 4 (the other form). o_1 + w_2 (o_2 - o_1) is no further off than that, but for the sigmoid
w_2 and the product with it, C_LERP u |o_2 - o_1|. Backward, do - w_2 do, dlse - w_2 dlse and
w_2 (1 - w_2) <do, o_2 - o_1> lose as much of |do|, |dlse| and sum_c |do_c| (|o_1c| + |o_2c|); so
does a derivative that passes through the maximum, where it cancels. This is granted where both
states are live.

Lemma 5 (states that are inexact). With |o_i - o_i'| <= B_i and |l_i - l_i'| <= b_i, the exact
merges differ by at most max(b_1, b_2) in l, which is 1-Lipschitz in the largest difference, and as
the odds of the weights are off by exp(b), b = b_1 + b_2, at most, in o by

    exp(b) (w_1 B_1 + w_2 B_2) + w_1 w_2 (exp(b) - 1) |o_1 - o_2|

The rest is a sum of products, `spec.attention.rounding.chained`.

Measured (standard certificates): a merge that divides by the sum uses 0.19 of a budget at most in
float64 and float32; one that takes its weights from a log-sum-exp that was rounded, 0.81, where
that is ten thousand and more; and in 16 bits the last rounding of a result is nearly all of it.
"""

from functools import lru_cache

import numpy as np

from spec.attention.rounding import arithmetic, chained
from spec.attention.rounding.arithmetic import C_DIV, C_EXP, C_LOG
from spec.attention.rounding.merged import C_BITS, C_LERP
from spec.merging import definition
from spec.merging.notation import Gradients, Problem, State
from spec.notation import Array, once

C_FAR = 2.0  # a difference of two lse, and a logarithm that is as large


class Bounds:
    """The bounds of one problem, each computed once, when asked for.

    Every attribute is the symbol of that name in the module's derivation.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.rules = arithmetic.allowed(problem)
        self.exact_problem = problem.in_reference()
        self.u = self.rules.u + arithmetic.unit_of_reference(problem.dtype == "float64")
        self.live = tuple(~empty for empty in problem.empty)
        self.both = self.live[0] & self.live[1]

    @once
    def state(self) -> State:
        """The merged state itself."""
        return definition.merged(self.exact_problem)

    @once
    def gradients(self) -> Gradients:
        """The gradients themselves."""
        return definition.gradients(self.exact_problem)

    @once
    def w(self) -> tuple[Array, Array]:
        """The weights.   two of (B, H, N)"""
        w_1, w_2, _ = definition.weights(self.exact_problem)
        return w_1.astype(np.float64), w_2.astype(np.float64)

    @once
    def o(self) -> tuple[Array, Array]:
        """The outputs as they count.   two of (B, H, N, E)"""
        return definition.outputs(self.problem)

    @once
    def l_each(self) -> tuple[Array, Array]:
        """l_1 and l_2; of an empty state that of the other one, of two of them 0."""
        l_1, l_2 = self.problem.lse_1, self.problem.lse_2
        one, two = np.where(self.live[0], l_1, l_2), np.where(self.live[1], l_2, l_1)
        some = self.live[0] | self.live[1]
        return np.where(some, one, 0.0), np.where(some, two, 0.0)

    @once
    def lse(self) -> tuple[Array, Array, Array]:
        """m, l and log s, 0 for two empty states.   three of (B, H, N)"""
        m = np.maximum(*self.l_each)
        lse = np.where(np.isneginf(self.state.lse), m, self.state.lse).astype(np.float64)
        return m, lse, lse - m

    # Lemmas 1 to 3

    def g(self, i: int) -> Array:
        """g_i.   (B, H, N)"""
        m, own = self.lse[0], self.l_each[i]
        return np.where(own == m, 0.0, C_BITS * (np.abs(own) + np.abs(m)))

    @once
    def sigma(self) -> Array:
        """How far the logarithm of the sum is off, before it is taken.   (B, H, N)"""
        m = self.lse[0]
        a = [self.u * (C_EXP + self.g(i) + m - self.l_each[i]) for i in (0, 1)]
        return self.w[0] * a[0] + self.w[1] * a[1] + self.u

    @once
    def of_lse(self) -> Array:
        """The budget of l as it is returned; 0 for two empty states.   (B, H, N)"""
        m, lse, log_s = self.lse
        far = C_FAR * np.where(self.both, np.abs(self.l_each[0] - self.l_each[1]), 0.0)
        size = np.abs(lse) + C_BITS * (np.abs(m) + np.abs(lse))
        found = self.sigma + self.u * (C_LOG * log_s + size + far) + 2 * self.rules.w
        return np.where(self.live[0] | self.live[1], found, 0.0)

    @once
    def of_w(self) -> tuple[Array, Array]:
        """The budgets of the weights as they enter a product; 0 for an empty state."""
        return self._of_w(0), self._of_w(1)

    def _of_w(self, i: int) -> Array:
        _, lse, log_s = self.lse
        size = self.g(i) + np.abs(lse) + lse - self.l_each[i]
        omega = self.sigma + self.u * (size + C_LOG * log_s + C_EXP + C_DIV + 1.0)
        error = self.w[i] * np.expm1(omega) + self.rules.u_exp + 2 * self.rules.w
        error = chained.entering(error, self.w[i], self.rules)
        return np.where(self.live[i], error, 0.0)

    # What follows of them

    @once
    def lerp(self) -> Array:
        """The error bound of Lemma 4, for a size.   (B, H, N, 1)"""
        share = C_LERP * self.u + 2 * self.rules.u_each
        return np.where(self.both, share, 0.0)[..., None]

    @once
    def of_o(self) -> Array:
        """The budget of o as it is stored in the dtype.   (B, H, N, E)"""
        w, of_w = (np.stack(x, axis=-1)[..., None, :] for x in (self.w, self.of_w))
        o, total = np.stack(self.o, axis=-2), self.state.o.astype(np.float64)[..., None, :]
        error = chained.product(w, o, total, self.rules, self.u, B_left=of_w)[..., 0, :]
        error = error + self.lerp * np.abs(self.o[0] - self.o[1])
        return chained.stored(error, self.state.o, self.rules)

    @once
    def of_gradients(self) -> Gradients:
        """The budgets of all four."""
        p, size = self.problem, np.abs(self.o[0]) + np.abs(self.o[1])
        total = (np.abs(p.do) * size).sum(axis=-1) + np.abs(p.dlse)
        passed = self.lerp[..., 0] * total
        return Gradients(
            o_1=self._of_do(0),
            lse_1=self._of_dlse(0, passed),
            o_2=self._of_do(1),
            lse_2=self._of_dlse(1, passed),
        )

    def _of_do(self, i: int) -> Array:
        r, do = self.rules, np.abs(self.problem.do)
        w, of_w, live = (x[i][..., None] for x in (self.w, self.of_w, self.live))
        error = (of_w + self.u * (w + of_w) + r.u_each * (w + of_w) + self.lerp) * do
        return np.where(live, chained.stored(error + 2 * r.w + r.w_each, w * do, r), 0.0)

    def _of_dlse(self, i: int, passed: Array) -> Array:
        """dlse_i = w_i x_i, x_i = <do, o_i - o> + dlse of an o that was computed."""
        p, r, o = self.problem, self.rules, self.state.o.astype(np.float64)
        x = (p.do * (self.o[i] - o)).sum(axis=-1) + p.dlse
        right = np.concatenate([self.o[i], -o], axis=-1)[..., None]
        of_right = np.concatenate([np.zeros_like(o), self.of_o], axis=-1)[..., None]
        left = np.concatenate([p.do, p.do], axis=-1)[..., None, :]
        added, total = p.dlse[..., None, None], x[..., None, None]
        P = chained.product(left, right, total, r, self.u, B_right=of_right, added=added)[..., 0, 0]
        error = self.of_w[i] * (np.abs(x) + P) + self.w[i] * P + passed
        each = (self.u + r.u_each) * self.w[i] * (np.abs(x) + P)
        return np.where(self.live[i], error + each + 2 * r.w + r.w_each, 0.0)


@lru_cache(maxsize=8)  # a problem is hashed by identity, and never changes
def bounds(problem: Problem) -> Bounds:
    """All that is known of the rounding errors of `problem`; kept for the last few problems."""
    return Bounds(problem)


def of_state(problem: Problem) -> State:
    """The budgets of o and lse."""
    return State(bounds(problem).of_o, bounds(problem).of_lse)


def of_gradients(problem: Problem) -> Gradients:
    """The budgets of the gradients as they are stored."""
    return bounds(problem).of_gradients


def moved(problem: Problem, one: State, two: State) -> State:
    """Lemma 5: how far the merge lies from that of states which are within `one` and `two`."""
    (w_1, w_2), (o_1, o_2) = bounds(problem).w, bounds(problem).o
    b = np.where(bounds(problem).both, one.lse + two.lse, 0.0)
    w_1, w_2, b = (x[..., None] for x in (w_1, w_2, b))
    mean = np.exp(b) * (w_1 * one.o + w_2 * two.o)
    empty_1, empty_2 = problem.empty
    of_lse = np.maximum(np.where(empty_1, 0.0, one.lse), np.where(empty_2, 0.0, two.lse))
    return State(mean + w_1 * w_2 * np.expm1(b) * np.abs(o_1 - o_2), of_lse)
