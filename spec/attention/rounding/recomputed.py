"""How far the weights may be off that a backward pass multiplies by.

They may be those of the forward pass, or computed again as exp(s - lse), from scores
that are added up in another order. Write

    weight computed again   a_ij (1 + c_i)(1 + e_ij),  |e_ij| <= epsilon_ij
    what its row shares     |c_i| <= shared_i = (drifts + rho) / room
    room_i                  = 1 - kappa - rho

where c is the error of the log-sum-exp: it comes from other roundings than e, and
the two do not cancel.

    own_ij    = drift_ij / room                              the weight, but for c
    wrong_ij  = own_ij + a_ij shared_i                       most_ij = a_ij + wrong_ij

Where there is no room, Lemma 6 may still say something (`intervals`). A weight exp(s - lse)
lies between e^(s_j - x_j) / sum_l e^(s_l + x_l) and e^(s_j + x_j) / sum_l e^(s_l - x_l), but for
rho: the exponent of a key, and the same in the sum, may be off in two directions. The largest
distance from a is then own_ij, and shared_i is zero.
"""

import numpy as np

from spec.attention.rounding import intervals
from spec.attention.rounding.through_lse import ThroughLse
from spec.attention.rounding.weights import SILENT_ABOVE, Weights
from spec.notation import Array, once

RHO = 0.5  # of a row: where it may be more, nothing is claimed
VAGUE = 1.0  # how far a weight may be so that this says nothing of it


class Recomputed:
    """The bounds of the weights of one backward pass, each computed once, when asked for.

    Every attribute is the symbol of that name in the module's derivation.
    """

    def __init__(self, weights: Weights, through_lse: ThroughLse) -> None:
        self.weights, self.through_lse = weights, through_lse
        self.problem, self.rules = weights.problem, weights.rules

    @once
    def _trust(self) -> Array:
        """1 - kappa - rho.   (B, H, N, 1)"""
        return 1.0 - self.weights.kappa - self.weights.normaliser

    @once
    def _apart(self) -> Array:
        """How far a weight may be by intervals.   (B, H, N, M)"""
        exponents, a = self.weights.exponents, self.weights.a
        low, high = intervals.again(exponents.gap, exponents.x, self.problem.allowed)
        rho = np.minimum(self.weights.alone, RHO)
        return np.maximum(np.maximum(high / (1.0 - rho) - a, a - low * (1.0 - rho)), 0.0)

    @once
    def by_intervals(self) -> Array:
        """Rows that intervals alone say something about.   (B, H, N, 1)"""
        untrusted = np.less(self._trust, 1 - SILENT_ABOVE)
        if not untrusted.any():
            return untrusted
        some = (self.problem.allowed & (self._apart < VAGUE)).any(axis=-1, keepdims=True)
        return np.asarray(untrusted & some & (self.weights.alone < RHO))

    @once
    def rho(self) -> Array:
        """rho_i, by which the sum of a row is off.   (B, H, N, 1)"""
        return np.where(self.by_intervals, self.weights.alone, self.weights.normaliser)

    @once
    def phi(self) -> Array:
        """phi_i, the same without the logarithm, or more.   (B, H, N, 1)"""
        return np.where(self.by_intervals, self.weights.alone, self.weights.phi)

    @once
    def shared(self) -> Array:
        """shared_i room_i = drifts + rho, and 0 where nothing is claimed.   (B, H, N, 1)"""
        none = self.silent | self.by_intervals
        return np.where(none, 0.0, self.weights.drifts + self.weights.normaliser)

    @once
    def silent(self) -> Array:
        """Rows about whose gradients nothing is claimed.   (B, H, N, 1)"""
        silent = np.less(self._trust, 1 - SILENT_ABOVE) & ~self.by_intervals
        return silent if self.problem.dlse is None else silent | self.through_lse.silent

    @once
    def room(self) -> Array:
        """room_i = 1 - kappa - rho; 1 - rho where intervals bound the weights.   (B, H, N, 1)"""
        room = np.where(self.by_intervals, 1.0 - self.rho, self._trust)
        return np.where(self.silent, 1.0, room)

    @once
    def speaks(self) -> Array | float:
        """0 in silent rows, else 1.   (B, H, N, 1)"""
        return 1.0 - self.silent if self.silent.any() else 1.0

    @once
    def drift(self) -> Array:
        """drift_ij / room_i, or by Lemma 6 how far a weight may be.   (B, H, N, M)"""
        drift = self.weights.drift * (self.speaks / self.room)
        if not self.by_intervals.any():
            return drift
        return np.where(self.by_intervals, self.weights.apart * self.speaks, drift)

    @once
    def heavy(self) -> Array:
        """heavy_ij / room_i, or the most that a weight may be.   (B, H, N, M)"""
        heavy = self.weights.heavy * (self.speaks / self.room)
        if not self.by_intervals.any():
            return heavy
        most = (self.weights.a + self.weights.apart) * self.speaks
        return np.where(self.by_intervals, most, heavy)

    @once
    def own(self) -> Array:
        """The error of a weight, but for what its row shares.   (B, H, N, M)

        An exponential may flush to zero below the smallest normal number; an eager
        one underflows as it is stored, and so do a quotient and a normaliser.
        """
        lost = self.rules.unit.tiny + 3 * self.rules.w_each
        own = self.drift
        if self.by_intervals.any():
            own = np.where(self.by_intervals, self._apart * self.speaks, own)
        return own + self.weights.scores.where_visible(lost)

    @once
    def wrong(self) -> Array:
        """The error of a weight.   (B, H, N, M)"""
        return self.own + self.weights.a * (self.shared / self.room)

    @once
    def most(self) -> Array:
        """The largest that a weight may be.   (B, H, N, M)"""
        return self.weights.a + self.wrong
