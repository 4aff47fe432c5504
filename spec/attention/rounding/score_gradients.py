"""How far the gradients of the scores may be from their exact values.

An implementation may keep the weights of the forward pass, and compute the row term
delta_i = sum_j a_ij da_ij as it stands; or compute them again (`recomputed`), and the
row term as <dout_i, o_i> from the output as it was stored. It may apply the Jacobian
of softmax as a matrix. Write Z_ij = da_ij - delta_i, so that ds = a Z. From the inside
out, with the symbols of `recomputed` (Lemma 1 is written sum(...)):

    H_ij      = sum(|dout| |v|, da), C_DA roundings each     da
    delta     : [ sum_j drift |Z| + sum_j heavy H + rho |delta|
                  + sum(heavy |da|, delta) ] / room          from the weights
                sum_c |dout| B_o + sum(|dout| (|o| + B_o), delta)    from the output
    zeta_ij   = H + 2 u (|da| + |delta|) + u (M - 1) / 2 (|da| + |Z|)     Z but for delta
    B_dx      = wrong |Z| + most (zeta + B_delta) + C_DS u |ds|
                and the keys that attain the maximum are granted more (`maximum`)

A cotangent of the log-sum-exp joins da - delta (`through_lse`).

The row term from the weights is that of weights that were divided by their own sum:
sum_j a_j e_j da_j less delta sum_j a_j e_j is sum_j a_j e_j Z_j. Weights exp(s - lse)
do not add up to one, and with them delta is granted from the output only.
"""

import numpy as np

from spec.attention.rounding import merged, sums
from spec.attention.rounding.arithmetic import C_DA, C_DS
from spec.attention.rounding.forward import Forward
from spec.attention.rounding.recomputed import Recomputed
from spec.attention.rounding.through_lse import ThroughLse
from spec.notation import Array, once


class ScoreGradients:
    """The bounds of the gradients of the scores, each computed once, when asked for.

    Every attribute is the symbol of that name in the module's derivation.
    """

    def __init__(self, forward: Forward) -> None:
        self.forward, self.weights, self.scores = forward, forward.weights, forward.scores
        self.problem, self.rules = forward.problem, forward.rules
        self.through_lse = ThroughLse(self.weights)
        self.again = Recomputed(self.weights, self.through_lse)

    @once
    def g(self) -> Array:
        """|dout|, and the budget of an inexact dout.   (B, H, N, E)"""
        size, inputs = np.abs(self.problem.dout), self.scores.inputs
        return size + inputs.dout if inputs.any else size

    @once
    def da(self) -> Array:
        """da_ij = <dout_i, v_j>.   (B, H, N, M)"""
        return self.scores.where_visible(self.problem.dout @ self.forward.v.swapaxes(-1, -2))

    @once
    def L(self) -> Array:
        """L_i = sum_j exp(s_ij - m_i) = 1 / max_j a_ij, and 1 for an idle query.   (B, H, N, 1)"""
        top = self.weights.a.max(axis=-1, keepdims=True, initial=0.0)
        return 1.0 / np.where(top > 0, top, 1.0)

    @once
    def da_size(self) -> Array:
        """|da|, and what inexact inputs add to it.   (B, H, N, M)"""
        return sums.plus(np.abs(self.da), self.moved)

    @once
    def H(self) -> Array:
        """The error of da; an eager one is stored, and so is dout / L.   (B, H, N, M)"""
        s, r, E = self.scores, self.rules, self.problem.E
        size = s.where_visible(self.g @ self.forward.v_size.swapaxes(-1, -2))
        H = sums.of_any_order(
            size, self.da_size, E, u=r.u, w=r.w, count=E, products=C_DA, cut=r.cut
        )
        H = sums.plus(H, self.moved)
        if r.w_each:
            H += r.u_each * (size + self.da_size) + r.w_each
            of_v = s.where_visible(self.forward.v_size.sum(axis=-1)[..., None, :])
            H += self.L * r.w_each * (1 + of_v)
        if r.flush:
            of_g = r.flush * self.g.sum(axis=-1)[..., :, None]
            of_v = r.flush * self.forward.v_size.sum(axis=-1)[..., None, :]
            H += s.where_visible(of_g + of_v)
        return H

    @once
    def moved(self) -> Array | float:
        """The error of da from inexact dout and v (`inexact`).   (B, H, N, M)"""
        if not self.scores.inputs.any:
            return 0.0
        B_dout, B_v = self.scores.inputs.dout, np.asarray(self.forward.inexact)
        moved = B_dout @ self.forward.v_size.swapaxes(-1, -2)
        moved += np.abs(self.problem.dout) @ B_v.swapaxes(-1, -2)
        return np.asarray(self.scores.where_visible(moved))

    @once
    def delta(self) -> Array:
        """delta_i = sum_j a_ij da_ij.   (B, H, N, 1)"""
        return (self.weights.a * self.da).sum(axis=-1, keepdims=True)

    @once
    def Z(self) -> Array:
        """|da - delta|, and |dlse|.   (B, H, N, M)"""
        size = np.abs(self.da - self.delta)
        return self.scores.where_visible(sums.plus(size, self.through_lse.size))

    @once
    def ds(self) -> Array:
        """|ds_ij| = a_ij |Z_ij|.   (B, H, N, M)"""
        return self.weights.a * self.Z

    @once
    def of_delta(self) -> Array:
        """The error of delta, from the weights or from the output.   (B, H, N, 1)"""
        from_weights = self._delta_from_weights
        stored = self.rules.u_each * np.abs(self.delta) + self.rules.w_each
        return np.maximum(from_weights, self._delta_from_output) + stored

    @once
    def heavy_da(self) -> Array:
        """sum_j heavy_ij |da_ij|, the size of delta.   (B, H, N, 1)"""
        return (self.again.heavy * self.da_size).sum(axis=-1, keepdims=True)

    @once
    def heavy_o(self) -> Array:
        """sum_c |dout_ic| (|o_ic| + B_o), its size too.   (B, H, N, 1)"""
        return (self.g * (self.forward.size_of_o + self.forward.output)).sum(-1, keepdims=True)

    @once
    def _delta_from_weights(self) -> Array:
        """Eager weights are stored twice, divided again, and so are the products.   (B, H, N, 1)"""
        s, r, M = self.scores, self.rules, self.problem.M
        moved = (self.again.drift * self.Z + self.again.heavy * self.H).sum(axis=-1, keepdims=True)
        shared = self.again.rho * self.again.speaks / self.again.room * np.abs(self.delta)
        lost = r.unit.tiny * self.da_size.sum(axis=-1, keepdims=True)
        added = sums.of_any_order(self.heavy_da, self.delta, M + 1, u=r.u, w=r.w, count=s.count)
        return moved + shared + lost + added + 4 * r.u_each * self.heavy_da + self.lost_weights

    @once
    def lost_weights(self) -> Array | float:
        """The underflow in delta from storing eager weights, and of the products.   (B, H, N, 1)"""
        r = self.rules
        if not r.w_each:
            return 0.0
        da = self.da_size.sum(axis=-1, keepdims=True)
        return r.w_each * ((2 + self.L) * da + self.L * (self.scores.count + 1))

    @once
    def _delta_from_output(self) -> Array:
        """<dout, o>, with o as it was stored; eager divides it again.   (B, H, N, 1)"""
        r, E, B_o = self.rules, self.problem.E, self.forward.output
        moved = (self.g * B_o).sum(axis=-1, keepdims=True)
        if self.scores.inputs.any:
            of_dout = self.scores.inputs.dout * self.forward.size_of_o
            moved += of_dout.sum(axis=-1, keepdims=True)
        added = sums.of_any_order(self.heavy_o, self.delta, E, u=r.u, w=r.w, count=E)
        return moved + added + 2 * r.u_each * self.heavy_o + self.lost_output

    @once
    def lost_output(self) -> Array | float:
        """The underflow of an eager output, divided again, and its products.   (B, H, N, 1)"""
        if not self.rules.w_each:
            return 0.0
        each = self.L * self.rules.w_each
        return each * (self.g.sum(axis=-1, keepdims=True) + self.problem.E * self.scores.live)

    @once
    def zeta(self) -> Array:
        """The error of Z, but for that of delta; an eager Z is stored, and da / L.   (B, H, N, M)

        The subtraction and a product with each side; and where the Jacobian of softmax
        is applied as a matrix, Z is one sum of M products. Their sizes add up to |da| and
        sum a |da| at most, of which the second is in the budget of delta (Lemma 1).
        """
        r = self.rules
        zeta = self.H + 2 * r.u * (self.da_size + np.abs(self.delta))
        zeta += r.u * 0.5 * sums.additions(self.problem.M, r.cut) * (self.da_size + self.Z)
        zeta = sums.plus(zeta, self.through_lse.of_sums(self.da_size + np.abs(self.delta)))
        if self.problem.merged:
            seen = self.g, self.forward.largest, self.through_lse.size
            zeta = zeta + merged.of_differences(*seen, self.problem.M, r)
        if not r.u_each:
            return zeta
        return zeta + r.u_each * (self.da_size + self.Z + 3 * self.H) + 2 * self.L * r.w_each

    @once
    def B_dx(self) -> Array:
        """The error of ds in the accumulator, but for what the maximum gets.   (B, H, N, M)"""
        moved = self.again.wrong * self.Z + self.again.most * (self.zeta + self.of_delta)
        return sums.plus(moved + (C_DS * self.rules.u) * self.ds, self.through_lse.of_weights)
