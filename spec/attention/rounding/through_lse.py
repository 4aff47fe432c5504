"""The error of the gradients of the scores from a cotangent of the log-sum-exp.

ds_ij gains a_ij dlse_i. An implementation may take dlse away from the row term, add it to
da - delta, or compute the term by itself, as autograd does, and the weights of that again as
exp(s - lse) from the log-sum-exp as it is returned, whose budget is B_lse. The two terms may
cancel, and then their errors do not. So |dlse| counts wherever |da - delta| is a size, and

    |Z| = |da - delta| + |dlse|
    zeta gains 3 u (|da| + |delta| + |dlse|)      one more sum, on either side of a product
    B_dx gains a |dlse| (exp(B_lse) - 1)
    |dq| gains 2 |scale dlse sum_j a k|           as each of its two parts has an error of its own
    the residue of a maximum gains (phi / room + (M + 3) u) |dlse|

Eager stores each of these. Where B_lse is not small, as in 16 bits with large scores, nothing is
claimed of the row.
"""

import numpy as np

from spec.attention.rounding.arithmetic import single
from spec.attention.rounding.weights import SILENT_ABOVE, Weights
from spec.notation import Array, once


class ThroughLse:
    """The bounds of one problem whose log-sum-exp has a cotangent; zeros, where it has none."""

    def __init__(self, weights: Weights) -> None:
        self.weights, self.problem, self.rules = weights, weights.problem, weights.rules

    @once
    def size(self) -> Array | float:
        """|dlse|.   (B, H, N, 1)"""
        return 0.0 if self.problem.dlse is None else np.abs(self.problem.dlse)[..., None]

    @once
    def off(self) -> Array:
        """exp(B_lse) - 1, up to e - 1.   (B, H, N, 1)"""
        error = self.weights.log_sum(single(self.problem).dtype)
        return np.expm1(np.minimum(error, 1.0))[..., None]

    @property
    def silent(self) -> Array:
        """Rows about which nothing is claimed.   (B, H, N, 1)"""
        return np.greater(self.off, SILENT_ABOVE)

    @once
    def of_weights(self) -> Array | float:
        """a |dlse| (exp(B_lse) - 1).   (B, H, N, M)"""
        return 0.0 if self.problem.dlse is None else self.weights.a * (self.size * self.off)

    def of_sums(self, terms: Array) -> Array | float:
        """3 u (terms + |dlse|), where there is one.   (B, H, N, M)"""
        if self.problem.dlse is None:
            return 0.0
        return 3 * (self.rules.u + self.rules.u_each) * (terms + self.size) + self.rules.w_each

    def of_residue(self, phi: Array) -> Array | float:
        """(phi / room + (M + 3) u) |dlse|, given phi / room.   (B, H, N, 1)"""
        return (phi + (self.problem.M + 3) * (self.rules.u + self.rules.u_each)) * self.size
