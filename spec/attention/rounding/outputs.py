"""The values of one problem and its exact output, as bounds of the output use them."""

import numpy as np

from spec.attention import definition
from spec.attention.rounding import sums
from spec.attention.rounding.reference import in_float64
from spec.attention.rounding.weights import Weights
from spec.notation import Array, once

TILE = 4_000_000  # elements of a temporary array over (rows, M, E)


class Outputs:
    """The values and the output, each computed once, when asked for."""

    def __init__(self, weights: Weights) -> None:
        self.weights, self.scores = weights, weights.scores
        self.problem, self.rules = weights.problem, weights.rules

    @once
    def v(self) -> Array:
        """v, once for every query head.   (B, H, M, E)"""
        return definition.shared(self.problem.v, self.problem.H)

    @once
    def v_size(self) -> Array:
        """|v|, and the budget of an inexact v.   (B, H, M, E)"""
        return sums.plus(np.abs(self.v), self.inexact)

    @once
    def inexact(self) -> Array | float:
        """B_v, once for every query head.   (B, H, M, E), or 0 if v is exact"""
        return self.scores.inputs.of_heads("v", self.problem)

    @once
    def moved(self) -> Array | float:
        """sum_j a_ij B_v: what an inexact v does to the output.   (B, H, N, E)"""
        return self.weights.a @ np.asarray(self.inexact) if self.scores.inputs.any else 0.0

    @once
    def o(self) -> Array:
        """The exact output, near enough.   (B, H, N, E)"""
        return in_float64(self.scores.reference.o)

    @once
    def size_of_o(self) -> Array:
        """|o|.   (B, H, N, E)"""
        return np.abs(self.o)

    def visible(self, b: Array, h: Array, i: Array) -> tuple[Array, Array]:
        """The smallest and the largest visible value, for some rows.   (rows, E) each"""
        if self.scores.full:
            low, high = (sums.plus(self.v, x) for x in (-self.inexact, self.inexact))
            return low.min(axis=-2)[b, h], high.max(axis=-2)[b, h]
        M = self.problem.M
        low, high = np.empty((len(b), self.problem.E)), np.empty((len(b), self.problem.E))
        step = max(1, TILE // max(1, M * self.problem.E))
        for rows in (slice(x, x + step) for x in range(0, len(b), step)):
            v = self.v[b[rows], h[rows]]
            off = self.inexact[b[rows], h[rows]] if isinstance(self.inexact, np.ndarray) else 0.0
            seen = self.problem.allowed[b[rows], h[rows], i[rows]][..., None]
            high[rows] = np.where(seen, sums.plus(v, off), -np.inf).max(axis=-2)
            low[rows] = np.where(seen, sums.plus(v, -off), np.inf).min(axis=-2)
        return low, high

    @once
    def largest(self) -> Array:
        """max_j |v_jc| over the keys that query i sees, 0 where there is none.   (B, H, N, E)"""
        shape = self.o.shape
        if not self.problem.M:
            return np.zeros(shape)
        b, h, i = np.indices(shape[:3]).reshape(3, -1)
        sizes = np.maximum(*map(np.abs, self.visible(b, h, i))).reshape(shape)
        return np.where(np.isfinite(sizes), sizes, 0.0)
