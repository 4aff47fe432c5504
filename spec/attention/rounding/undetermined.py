"""How far the output may be in rows whose weights are hardly determined by the problem.

Lemma 5 (the hull). Computed weights are not negative, so o^ is, but for the rounding of its sums,
between the smallest and the largest visible value.

Lemma 6 (`intervals`) bounds it by how far each weight may be. It says more where some key is known
to have most of the weight, or to have next to none.
"""

import numpy as np

from spec.attention.rounding import sums
from spec.attention.rounding.arithmetic import C_WEIGHT
from spec.attention.rounding.outputs import TILE, Outputs
from spec.notation import Array, once

UNEQUAL_UP_TO = 0.5


class Undetermined:
    """These rows of one problem, and the bounds of their output before it is divided and stored."""

    def __init__(self, outputs: Outputs) -> None:
        self.outputs, self.problem = outputs, outputs.problem

    @once
    def rows(self) -> tuple[Array, ...]:
        """Their places.   three of (rows,)"""
        return np.nonzero(self.outputs.weights.capped[..., 0])

    @once
    def range(self) -> tuple[Array, Array]:
        """The smallest and the largest visible value.   (rows, E) each"""
        b, h, i = self.rows
        return self.outputs.visible(b, h, i)

    @once
    def hull(self) -> Array:
        """Lemma 5: the distance to the furthest visible value.   (rows, E)"""
        (low, high), o = self.range, self.outputs.o[self.rows]
        return np.maximum(high - o, o - low)

    @once
    def apart(self) -> Array:
        """Lemma 6: sum_j apart_ij |v_jc - o_ic|, and what an inexact v adds.   (rows, E)"""
        (b, h, i), seen = self.rows, self.outputs
        found = np.empty((len(b), self.problem.E))
        step = max(1, TILE // max(1, self.problem.M * self.problem.E))
        for rows in (slice(x, x + step) for x in range(0, len(b), step)):
            at, keys = (b[rows], h[rows], i[rows]), (b[rows], h[rows])
            apart = seen.weights.apart[at][:, None]
            found[rows] = (apart @ np.abs(seen.v[keys] - seen.o[at][:, None]))[:, 0]
            if isinstance(seen.inexact, np.ndarray):
                most = seen.weights.a[at][:, None] + apart
                found[rows] += (most @ seen.inexact[keys])[:, 0]
        return found

    @property
    def held(self) -> Array:
        """The smaller of both, and rounding.   (rows, E)"""
        return np.minimum(self.hull, self.apart) + self.rounded

    @once
    def rounded(self) -> Array:
        """The error from rounding sums, in addition to either.   (rows, E)

        It is twice the additions and the rescalings, for numerator and normaliser; a stored weight,
        or an exponential and its normaliser, likewise. Merged parts add up to as much as they may,
        but never to two that are one.
        """
        r, M = self.outputs.rules, self.problem.M
        relative = 4 * (M + C_WEIGHT) * r.u * sums.growth(M, r.u) + 4 * r.u_cast
        relative += 2 * M * (r.unit.tiny + r.w_cast)
        unequal = np.minimum(self.outputs.weights.unequal, UNEQUAL_UP_TO)
        of_rows = np.broadcast_to(unequal, self.outputs.scores.live.shape)[self.rows]
        sizes = (relative + of_rows) * np.maximum(*map(np.abs, self.range))
        return sizes + 4 * M * (r.w + r.w_each) + r.flush
