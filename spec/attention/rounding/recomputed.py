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
"""

import numpy as np

from spec.attention.rounding.through_lse import ThroughLse
from spec.attention.rounding.weights import SILENT_ABOVE, Weights
from spec.notation import Array, once


class Recomputed:
    """The bounds of the weights of one backward pass, each computed once, when asked for.

    Every attribute is the symbol of that name in the module's derivation.
    """

    def __init__(self, weights: Weights, through_lse: ThroughLse) -> None:
        self.weights, self.through_lse = weights, through_lse
        self.problem, self.rules = weights.problem, weights.rules

    @once
    def shared(self) -> Array:
        """shared_i room_i = drifts + rho, and 0 where nothing is claimed.   (B, H, N, 1)"""
        return np.where(self.silent, 0.0, self.weights.drifts + self.weights.normaliser)

    @once
    def silent(self) -> Array:
        """Rows about whose gradients nothing is claimed.   (B, H, N, 1)"""
        silent = np.greater(self.weights.kappa + self.weights.normaliser, SILENT_ABOVE)
        return silent if self.problem.dlse is None else silent | self.through_lse.silent

    @once
    def room(self) -> Array:
        """room_i = 1 - kappa - rho.   (B, H, N, 1)"""
        trust = 1.0 - self.weights.kappa - self.weights.normaliser
        return np.where(self.silent, 1.0, trust)

    @once
    def speaks(self) -> Array | float:
        """0 in silent rows, else 1.   (B, H, N, 1)"""
        return 1.0 - self.silent if self.silent.any() else 1.0

    @once
    def drift(self) -> Array:
        """drift_ij / room_i.   (B, H, N, M)"""
        return self.weights.drift * (self.speaks / self.room)

    @once
    def heavy(self) -> Array:
        """heavy_ij / room_i.   (B, H, N, M)"""
        return self.weights.heavy * (self.speaks / self.room)

    @once
    def own(self) -> Array:
        """The error of a weight, but for what its row shares.   (B, H, N, M)

        An exponential may flush to zero below the smallest normal number; an eager
        one underflows as it is stored, and so do a quotient and a normaliser.
        """
        lost = self.rules.unit.tiny + 3 * self.rules.w_each
        return self.drift + self.weights.scores.where_visible(lost)

    @once
    def wrong(self) -> Array:
        """The error of a weight.   (B, H, N, M)"""
        return self.own + self.weights.a * (self.shared / self.room)

    @once
    def most(self) -> Array:
        """The largest that a weight may be.   (B, H, N, M)"""
        return self.weights.a + self.wrong
