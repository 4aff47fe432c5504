"""The gradient through the maximum of a row, if that is differentiated too.

Weights do not change if m_i is subtracted from the scores of a row, so that m has no
derivative; and most who write a softmax by hand leave it to autograd none the less:

    m = max_j s_j      e_j = exp(s_j - m)      L = sum_j e_j      a_j = e_j / L

Autograd gives m the gradient -sum_j dx_j, where dx_j is the gradient of s_j - m. That is
zero; computed, it is the residue of terms that were rounded. It goes to a key that attains
the maximum, or in equal parts to those that tie, and to no other: key j can be one of them
only if its score and that of every other key may be as far off as they may,

    top_ij = 1 where s_ij + eta_ij >= max_l (s_il - eta_il), else 0
    B_ds   = B_dx + top residue

The residue is much less than sum_j B_dx. Take the exponentials and their sum as what they
were computed to be, and write alpha_j = e_j / L, with sum_j alpha_j = 1 + p, |p| <= phi / room.
But for its own roundings, dx_j = alpha_j (da_j - delta), with one number delta:

    sum_j dx_j = [ sum_j alpha_j da_j - delta ] - p delta

The errors of scores, exponentials and inexact inputs are in alpha and da on both sides of
the brackets, and drop out. The remaining roundings are between one side and the other:

    quotient, o = sum_j (e_j / L) v_j. delta is added up from the same da: da / L on one side,
    da (e / L) / L on the other, three divisions and one product, C_BACK in all

        C_BACK u sum_j heavy |da| + sum(heavy |da|, delta)

    late, o = (sum_j e_j v_j) / L. da comes from dout / L and delta from dout (o / L), where o
    was added up with the error theta (`forward`) and divided

        sum_j heavy H + sum_c |dout| (theta + C_BACK u |o|) + sum(|dout| |o|, delta)

The residue is the larger of the two, and

    phi / room (|delta| + B_delta)             p delta
    2 u sum_j (|ds| + B_dx)                    the difference da - delta, and e times it
    sum(|ds| + B_dx, 0)                        adding them up

A logarithm, exp(s - m - log L), leaves no more: its delta is added up from the terms of the
other side, as in a quotient.

Eager stores da / L, e / L, e / L^2 and its product with da (4) in the one; in the other o / L
and its product with dout (2) beyond what is in H and theta, where two roundings of weights are
granted, which are here those of the sum and of o. And in both delta, the difference, dx, the
sum, the part of each key that ties and the reciprocal of how many they are (the last three
round the residue itself). Underflows in da / L are multiplied by e <= 1, and so may add up
to L = 1 / max_j a_j times as much in units of da.
"""

import numpy as np

from spec.attention.rounding import sums
from spec.attention.rounding.arithmetic import C_DIV, Arithmetic
from spec.attention.rounding.score_gradients import ScoreGradients
from spec.notation import Array, once

C_BACK = 3 * C_DIV + 1


def attained(s: Array, eta: Array, allowed: Array) -> Array:
    """top_ij: 1 where the computed score of a key may be the largest of its row.   (B, H, N, M)

    s, eta: (B, H, N, M). allowed: where keys are visible, shaped like s.
    """
    least = np.where(allowed, s - eta, -np.inf).max(axis=-1, keepdims=True, initial=-np.inf)
    return ((s + eta >= least) & allowed).astype(np.float64)


def furthest(top: Array, x: Array) -> Array:
    """max_j top_ij |x_jc|: no mean of the keys that tie is larger.   (B, H, N, columns)

    top: (B, H, N, M). x: (B, H, M, columns), not negative.
    """
    most = np.zeros((*top.shape[:-1], x.shape[-1]))
    many = np.count_nonzero(top, axis=-1)
    first = (np.cumsum(many) - many.reshape(-1))[many.reshape(-1) > 0]
    if first.size:
        b, h, _, j = places = np.nonzero(top)  # those of a row side by side
        most[many > 0] = np.maximum.reduceat(top[places][:, None] * x[b, h, j], first, axis=0)
    return most


def residue(between: Array, size: Array, rules: Arithmetic, count: Array, M: int) -> Array:
    """How far sum_j dx_j is from zero, as it is stored and shared out.   (B, H, N, 1)

    between: what it would be if neither dx nor their sum were rounded.
    size: sum_j |ds| + B_dx. count: how many terms there are, M at most.
    """
    r = rules
    left = between + (2 * r.u + 2 * r.u_each) * size + (r.w + r.w_each) * count
    left = left + sums.of_any_order(size, left, M, u=r.u, w=r.w, count=count, products=0.0)
    return (1 + 4 * (r.u + r.u_each)) * left + 3 * (r.w + r.w_each)


class Maximum:
    """The bounds of the gradients of the scores, with what the maximum hands on to some."""

    def __init__(self, of_scores: ScoreGradients) -> None:
        self.of_scores, self.scores = of_scores, of_scores.scores
        self.problem, self.rules = of_scores.problem, of_scores.rules

    @once
    def top(self) -> Array:
        """top_ij.   (B, H, N, M)"""
        return attained(self.scores.s, self.scores.eta, self.problem.allowed)

    @once
    def residue(self) -> Array:
        """How far the gradients of a row may be from adding up to zero.   (B, H, N, 1)"""
        b = self.of_scores
        between = np.maximum(self._quotient, self._late)
        phi = b.again.phi * (b.again.speaks / b.again.room)
        between += (phi + self.rules.u_each) * (np.abs(b.delta) + b.of_delta)
        between = sums.plus(between, b.through_lse.of_residue(phi))
        size = (b.ds + b.B_dx).sum(axis=-1, keepdims=True)
        return residue(between, size, self.rules, self.scores.count, self.problem.M)

    @property
    def _quotient(self) -> Array:
        """What is left of the brackets in a quotient.   (B, H, N, 1)"""
        b, r, M = self.of_scores, self.rules, self.problem.M
        added = sums.of_any_order(b.heavy_da, b.delta, M, u=r.u, w=r.w, count=M, products=0)
        return (C_BACK * r.u + 4 * r.u_each) * b.heavy_da + added + b.lost_weights

    @property
    def _late(self) -> Array:
        """The same if the output is divided; what inexact inputs do drops out.   (B, H, N, 1)"""
        b, r, E = self.of_scores, self.rules, self.problem.E
        apart = (b.again.heavy * sums.plus(b.H, -b.moved)).sum(axis=-1, keepdims=True)
        theta = (b.g * b.forward.theta).sum(axis=-1, keepdims=True)
        if b.again.by_intervals.any():
            held = (b.g * b.forward.rounded).sum(axis=-1, keepdims=True)
            theta = np.where(b.again.by_intervals, held, theta)
        theta = theta * (b.again.speaks / b.again.room)
        added = sums.of_any_order(b.heavy_o, b.delta, E, u=r.u, w=r.w, count=E, products=0)
        back = (C_BACK * r.u + 2 * r.u_each) * b.heavy_o
        return apart + theta + back + added + b.lost_output

    @once
    def B_ds(self) -> Array:
        """The error of ds in the accumulator.   (B, H, N, M)"""
        return self.of_scores.B_dx + self.top * self.residue

    @once
    def size(self) -> Array:
        """|ds| and its error.   (B, H, N, M)"""
        return self.of_scores.ds + self.B_ds

    @once
    def cast(self) -> Array | float:
        """The error of ds from storing it for a product.   (B, H, N, M), or 0 if it is not stored

        One cast in flash. Eager stores two factors of the weight, the product, the
        product times the scale, and the other operand times its scale.
        """
        each = 5 if self.rules.u_each else 1
        if not self.rules.u_cast:
            return 0.0
        return (each * self.rules.u_cast) * self.size

    @property
    def lost(self) -> float:
        """The underflow of ds: of its products, those of a Jacobian, and the cast.   scalar"""
        return (3 + 2 * self.problem.M) * self.rules.w + 3 * self.rules.w_cast

    @property
    def lost_scaled(self) -> float:
        """The same of scale ds, scaled before or after.   scalar"""
        return max(1.0, self.scores.sigma) * self.lost
