"""How far the weights, their sum and its logarithm may be from their exact values.

The implementation computes a_j (1 + e_j), up to a factor that the keys of a row share,
with |e_j| <= epsilon_ij. The sum of a row is within phi of what it adds up (Lemma 2,
and one rounding for each rescaling):

    epsilon_ij = exp(x_ij) - 1
    drift_ij   = a_ij epsilon_ij          heavy_ij = a_ij (1 + 2 epsilon_ij)
    phi_i      = (1 + sum_j drift) [ sum_j min(u, heavy) - u + u sum_j heavy R ]
    kappa_i    = sum_j drift + phi        how far the row can be trusted
    rho_i      = phi + u (C_DIV + C_LOG (1 + log L) + 2 |lse|)

Sums over computed weights are bounded by sums over `heavy`; rho is what a row shares
when its log-sum-exp was stored and weights are computed again as exp(s - lse).

That form is granted to weights that are handed out and to the backward pass, not to
the output: it loses u |lse| where a quotient loses nothing (Blanchard, Higham and
Higham, Accurately computing the log-sum-exp and softmax functions, 2021, section 4).
"""

from dataclasses import dataclass

import numpy as np

from spec.attention.rounding import intervals, sums
from spec.attention.rounding.arithmetic import C_DIV, C_LOG
from spec.attention.rounding.exponents import Exponents
from spec.attention.rounding.reference import in_float64
from spec.attention.rounding.scores import Scores
from spec.formats import FORMATS
from spec.notation import Array, once

CAPPED_ABOVE = 0.05  # up to here what is left out, kappa^2, is a twentieth of what is not
SILENT_ABOVE = 0.95  # 1 / (1 - kappa) is then 20, and a bound of 20 errors says nothing
TRUSTED_UP_TO = 80.0  # exponents whose error is larger are bounded in logarithms


@dataclass(frozen=True)
class Coverage:
    """How much the budgets of a problem say.

    rows: rows that see a key. capped: of these, those whose weights are so hardly
    determined that their output is only held to the hull of the values.
    silent: those about whose gradients nothing is claimed.
    """

    rows: int
    capped: int
    silent: int


class Weights:
    """The weights of one problem and what bounds them, each computed once, when asked for.

    Every attribute is the symbol of that name in the module's derivation.
    """

    def __init__(self, scores: Scores) -> None:
        self.scores, self.exponents = scores, Exponents(scores)
        self.problem, self.rules = scores.problem, scores.rules

    @once
    def epsilon(self) -> Array:
        """The relative error of a weight, but for what its row shares.   (B, H, N, M)"""
        x = self.exponents.x
        return np.expm1(np.minimum(x, TRUSTED_UP_TO) if self._overflows else x)

    @once
    def _overflows(self) -> bool:
        """Whether some epsilon is too large to say anything."""
        return bool(self.exponents.x.max(initial=0.0) > TRUSTED_UP_TO)

    @once
    def a(self) -> Array:
        """The weights.   (B, H, N, M)"""
        return in_float64(self.scores.reference.weights)

    @once
    def drift(self) -> Array:
        """a_ij epsilon_ij; where epsilon overflows, exp(x - gap).   (B, H, N, M)"""
        drift = self.a * self.epsilon
        if self._overflows:
            x, gap = self.exponents.x, self.exponents.gap
            drift = np.where(x > TRUSTED_UP_TO, np.exp(np.minimum(x - gap, TRUSTED_UP_TO)), drift)
        return drift

    @once
    def drifts(self) -> Array:
        """sum_j a_ij epsilon_ij.   (B, H, N, 1)"""
        return self.drift.sum(axis=-1, keepdims=True)

    @once
    def heavy(self) -> Array:
        """a (1 + 2 epsilon), which bounds what is computed in sums over keys.   (B, H, N, M)"""
        return self.a + 2.0 * self.drift

    @once
    def rescaled(self) -> Array:
        """heavy_ij R_ij, what a sum over keys meets in rescalings.   (B, H, N, M)"""
        return self.heavy * self.exponents.R

    @once
    def phi(self) -> Array:
        """The error of the normaliser; eager stores it and what it adds up.   (B, H, N, 1)"""
        u = self.rules.u
        few = np.minimum(self.heavy, u).sum(axis=-1, keepdims=True) - u * self.scores.live
        rescaled = u * self.rescaled.sum(axis=-1, keepdims=True)
        unit = sums.growth(self.problem.M, u) * (1 + self.drifts)
        return sums.plus(unit * (few + rescaled) + 2 * self.rules.u_each, self.unequal)

    @once
    def unequal(self) -> Array | float:
        """How far the weights of merged parts are from adding up to one.   (B, H, N, 1), or 0"""
        lost = self.exponents.lost
        if not isinstance(lost, np.ndarray):
            return 0.0
        lost = np.expm1(np.minimum(lost, TRUSTED_UP_TO))
        return np.asarray((self.a * lost).sum(axis=-1, keepdims=True))

    @once
    def kappa(self) -> Array:
        """How far the row can be trusted.   (B, H, N, 1)

        An exponential may flush to zero below the smallest normal number, relative
        to the largest weight.
        """
        return self.drifts + self.phi + self.problem.M * self.rules.unit.tiny

    @once
    def capped(self) -> Array:
        """Rows whose weights are hardly determined.   (B, H, N, 1)"""
        return np.greater(self.kappa, CAPPED_ABOVE)

    @once
    def normaliser(self) -> Array:
        """rho_i: what the keys of a row share, when its log-sum-exp was stored.   (B, H, N, 1)

        rho = phi + u (C_DIV + 2 |lse| + C_LOG (1 + log L)), where L = exp(lse - m) <= M.
        """
        return self.phi + self._of_log(self.exponents.most_moved)

    @once
    def alone(self) -> Array:
        """rho_i of a row whose weights are whatever they were computed to be.   (B, H, N, 1)

        It is relative to their sum. As none is negative, M - 1 additions and the rescalings do no
        more than that to it.
        """
        u, M = self.rules.u, self.problem.M
        most = self.exponents.R.max(axis=-1, keepdims=True, initial=0.0)
        added = sums.growth(M, u) * u * (M - 1 + most) + 2 * self.rules.u_each
        off = self.exponents.x.max(axis=-1, keepdims=True, initial=0.0)
        return sums.plus(added + self._of_log(off), self.unequal)

    def _of_log(self, off: Array | float) -> Array:
        """The part of rho from the logarithm, which may be off by `off`.   (B, H, N, 1)"""
        log_L = float(np.log(max(self.problem.M, 1)))
        lse = sums.plus(np.abs(self.scores.m), self.scores.lifted) + log_L + off
        return np.asarray(self.rules.u * (C_DIV + C_LOG * (1 + log_L) + 2 * lse))

    @once
    def stored(self) -> Array:
        """The error of a weight as it is stored.   (B, H, N, M)

        A weight is off by its own error less the mean error of its row:

            |a^_j - a_j| <= a_j [ epsilon_j - 2 drift_j + sum_k drift_k + rho ] / (1 - kappa - rho)

        and by no more than Lemma 6 says (`intervals`).
        """
        r = self.rules
        spread = self.epsilon - 2.0 * (self.drift - self.a * self.exponents.y)
        spread += self.drifts + self.normaliser
        room = 1.0 - np.minimum(self.kappa + self.normaliser, SILENT_ABOVE)
        error = self.a * spread / room
        if self.capped.any():
            beyond = self.kappa + self.normaliser >= SILENT_ABOVE  # trust, so no bound at all
            trusted = np.where(beyond, np.inf, error)
            error = np.where(self.capped, np.minimum(self._most, trusted), error)
        cast = r.u_out + 2 * r.u_each
        error = (1 + cast) * error + cast * self.a + (r.unit.tiny + r.w_out + 2 * r.w_each)
        return self.scores.where_visible(self.scores.slack * error)

    @once
    def row_sum(self) -> Array:
        """The error of the sum of the stored weights of a row.   (B, H, N)

        Scores drop out: sum_j e_j / sum_j e_j = 1 but for the exponentials, twice where
        the weights are exp(s - lse), and the roundings of the sum and of storing.
        The last term is the reader's own sum, in float64.
        """
        r, M = self.rules, self.problem.M
        moved = self.a * np.expm1(np.minimum(2.0 * self.exponents.y, TRUSTED_UP_TO))
        rho = np.where(self.normaliser < 0.5, 2.0 * self.normaliser, np.inf)  # rho / (1 - rho)
        sums_to = 1.0 + moved.sum(axis=-1, keepdims=True) + rho
        stored = (1 + r.u_out) * (1 + 2 * r.u_each) - 1 + M * 2.0**-53
        error = (sums_to - 1) + stored * sums_to
        error += self.scores.count * (r.unit.tiny + r.w_out + 2 * r.w_each)
        return (self.scores.slack * error * self.scores.live)[..., 0]

    def log_sum(self, dtype: str) -> Array:
        """The error of the log-sum-exp, as it is stored in `dtype`.   (B, H, N)

        lse^ = log sum_j exp(s_j)(1 + e_j) errs by log(1 + sum_j a_j e_j), so by at most
        kappa / (1 - kappa); and, as it moves no more than the scores do, by max_j x_j.
        """
        stored = FORMATS[dtype]
        mean = np.minimum(self.drifts, 0.5)
        mean = np.where(self.drifts < 0.5, mean / (1 - mean), np.inf)
        most = self.exponents.x.max(axis=-1, keepdims=True, initial=0.0)
        error = self.scores.slack * (np.minimum(mean, most) + self.normaliser)[..., 0]
        lse = np.where(self.problem.idle, 0.0, np.abs(in_float64(self.scores.reference.lse)))
        return (error + stored.u * (error + lse) + stored.w) * self.scores.live[..., 0]

    @once
    def between(self) -> tuple[Array, Array]:
        """The smallest and the largest that each weight may be (Lemma 6).   (B, H, N, M) each"""
        return intervals.between(self.exponents.gap, self.exponents.x, self.problem.allowed)

    @once
    def apart(self) -> Array:
        """How far a weight may be by Lemma 6, in rows that see a key.   (B, H, N, M)"""
        low, high = self.between
        return np.maximum(np.maximum(high - self.a, self.a - low), 0.0)

    @property
    def _most(self) -> Array:
        """The same of a weight as exp(s - lse), which may be above one.   (B, H, N, M)"""
        rho = np.minimum(self.normaliser, self.alone)
        above = np.expm1(np.minimum(2.0 * (self.exponents.y + rho), TRUSTED_UP_TO))
        _, high = self.between
        return self.apart + high * above + 4 * self.problem.M * self.rules.u
