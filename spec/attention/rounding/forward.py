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

Rows whose kappa is above `CAPPED_ABOVE` are judged by other lemmas where these say more
(`undetermined`): their weights are hardly determined by the problem.
"""

import numpy as np

from spec.attention.rounding import merged, sums
from spec.attention.rounding.arithmetic import C_DIV, C_WEIGHT
from spec.attention.rounding.outputs import Outputs
from spec.attention.rounding.undetermined import Undetermined
from spec.attention.rounding.weights import SILENT_ABOVE, Weights
from spec.notation import Array, once

DIRECT_UP_TO = 400_000  # elements of |v_jc - o_ic|; above, Cauchy-Schwarz and products


class Forward(Outputs):
    """The bounds of the output of one problem, each computed once, when asked for.

    Every attribute is the symbol of that name in the module's derivation.
    """

    def __init__(self, weights: Weights) -> None:
        super().__init__(weights)
        self.undetermined = Undetermined(self)

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
        """[ centred + theta + phi |o| ] / (1 - kappa), or Lemmas 5 and 6.   (B, H, N, E)"""
        size = sums.plus(self.size_of_o, self.moved)
        whole = self.centred + self.theta + self.weights.phi * size
        if not self.weights.capped.any():
            return sums.plus(whole / (1.0 - self.weights.kappa), self.moved)
        trusted: Array = np.less(self.weights.kappa, SILENT_ABOVE)
        core = sums.plus(whole / (1.0 - np.where(trusted, self.weights.kappa, 0.0)), self.moved)
        rows, held = self.undetermined.rows, self.undetermined.held
        core[rows] = np.where(trusted[rows], np.minimum(core[rows], held), held)
        return core

    @property
    def rounded(self) -> Array:
        """The error from rounding the sums of a row, however wrong its weights are.   (B, H, N, E)

        It is computed for rows whose weights are hardly determined, and 0 in the others.
        """
        error = np.zeros(self.o.shape)
        error[self.undetermined.rows] = self.undetermined.rounded
        return error

    @once
    def ranged(self) -> Array:
        """Rows whose output is held to the range of the visible values alone.   (B, H, N, 1)"""
        ranged = np.zeros(self.scores.live.shape, dtype=bool)
        if not self.weights.capped.any():
            return ranged
        hull, apart = self.undetermined.hull, self.undetermined.apart
        ranged[self.undetermined.rows] = np.greater_equal(apart, hull).all(-1, keepdims=True)
        return ranged

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
