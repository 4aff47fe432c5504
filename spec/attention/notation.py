"""The vocabulary of attention: a problem, and its gradients.

A `Problem` holds everything about one call: arrays, options, conventions, the format of the arrays
and their memory layout (`spec.attention.contents`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spec.attention import places
from spec.attention.contents import UNBOUNDED, Conventions, Corner, Inputs, Options, Placement
from spec.attention.refusals import refuse
from spec.notation import Array, Length, Posed, names, once


# The bases stand in the opposite order of their fields, as Python reads them from the last one.
@dataclass(frozen=True, eq=False)
class Problem(Placement, Conventions, Options, Inputs, Posed):
    """One attention problem, and the loss <dout, o> + <dlse, lse> to differentiate.

    It has the fields of its five records as its own: each is named once, and read as
    `problem.causal`. `problem.only(Options)` is all of one record, to be handed on.
    """

    shown_elsewhere: ClassVar[tuple[str, ...]] = (
        *Posed.shown_elsewhere,
        "memory",
        *names(Conventions),
    )
    axes: ClassVar[Mapping[str, str]] = {**Inputs.axes, **Options.axes}

    B = Length("q", 0)
    H = Length("q", 1)
    G = Length("k", 1)
    N = Length("q", 2)
    M = Length("k", 2)
    D = Length("q", 3)
    E = Length("v", 3)

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse(self, B=self.B, H=self.H, N=self.N, M=self.M)

    @property
    def grouped(self) -> bool:
        """Whether several query heads share a key head."""
        return self.G != self.H

    @property
    def biased(self) -> bool:
        """Whether anything is added to the scores: an additive mask, or ALiBi slopes."""
        return self.slopes is not None or (self.mask is not None and self.mask.dtype != bool)

    @property
    def sigma(self) -> float:
        """The scale that applies: the given one, else 1 / sqrt(D)."""
        return 1.0 / float(np.sqrt(self.D)) if self.scale is None else float(self.scale)

    @property
    def placed(self) -> bool:
        """Whether positions of queries or of keys are given; if so, no alignment applies."""
        return self.query_positions is not None or self.key_positions is not None

    @property
    def restarts(self) -> bool:
        """Whether positions are counted within each of several sequences."""
        return self.in_text and self.query_segments is not None and not self.placed

    def ahead(self, corner: Corner) -> Array:
        """r_j - p_i, how far key j lies ahead of query i.   (N, M) or (B, 1, N, M)"""
        mine, theirs = self.stands(corner)
        return theirs - mine

    def stands(self, corner: Corner) -> tuple[Array, Array]:
        """p_i and r_j.   (N, 1) and (1, M), or (B, 1, N, 1) and (B, 1, 1, M)"""
        if not self.placed and not self.restarts:  # rows are positions, up to the alignment
            shift = self.M - self.N if corner == "bottom-right" else 0
            return np.arange(self.N)[:, None] + shift, np.arange(self.M)[None, :]
        given = self.query_positions, self.key_positions
        if self.restarts:
            given = places.in_text(self.query_segments, self.key_segments, corner)
        lengths = self.N, self.M
        p, r = (
            np.arange(length)[None] if x is None else x.astype(np.int64)
            for x, length in zip(given, lengths, strict=True)
        )
        return p[:, None, :, None], r[:, None, None, :]

    @once
    def future(self) -> Array:
        """True where key j lies in the future of query i.   (N, M) or (B, 1, N, M)"""
        return self.ahead(self.corner) > 0

    @once
    def begins(self) -> Array:
        """True for each of the leading keys of the sequence.   (M,) or (B, 1, 1, M)"""
        r = np.arange(self.M)
        if self.key_positions is not None:
            r = self.key_positions[:, None, None, :]
        elif self.restarts:
            _, r = places.in_text(self.query_segments, self.key_segments, "top-left")
            r = r[:, None, None, :]
        return np.asarray((r < self.first) & (self.first > 0))

    @once
    def outside(self) -> Array:
        """True where key j lies outside the window of query i.   (N, M) or (B, 1, N, M)"""
        left, right = self.window
        ahead = self.ahead(self.window_corner or self.corner)
        before = False if left is None else (ahead < -left) & ~self.begins
        behind = False if right is None else ahead > right
        return np.broadcast_to(before | behind, ahead.shape)

    @once
    def same_text(self) -> Array:
        """True where query i and key j are of one sequence, and not padding.   (B, 1, N, M)"""
        assert self.query_segments is not None
        assert self.key_segments is not None
        mine, theirs = self.query_segments[:, None, :, None], self.key_segments[:, None, None, :]
        return (mine == theirs) & (theirs >= 0)

    @once
    def allowed(self) -> Array:
        """True where query i may attend to key j.   (B, H, N, M)"""
        allowed = np.ones((self.B, self.H, self.N, self.M), dtype=bool)
        if self.mask is not None:
            allowed &= self.mask if self.mask.dtype == bool else ~np.isneginf(self.mask)
        if self.causal:
            allowed &= ~self.future
        if self.window != UNBOUNDED:
            allowed &= ~self.outside
        if self.query_segments is not None:
            allowed &= self.same_text
        return allowed

    @property
    def slope_positions(self) -> tuple[Array, Array]:
        """p_i and r_j as slopes count them, shaped as `stands` has it."""
        return self.stands(self.slopes_corner or self.corner)

    @once
    def distance(self) -> Array:
        """|p_i - r_j|, or p_i - r_j if slopes are signed.   (N, M) or (B, 1, N, M)"""
        mine, theirs = self.slope_positions
        behind = mine - theirs
        return behind if self.signed_slopes else np.abs(behind)

    @once
    def slant(self) -> Array:
        """-m_h |p_i - r_j|, what ALiBi slopes add to the scores.   (B or 1, H, N, M)"""
        assert self.slopes is not None
        number = self.q.dtype if self.q.dtype.kind == "f" else np.float64  # even if q is exact
        return self.slopes.astype(number).reshape(-1, self.H, 1, 1) * -self.distance

    @once
    def bias(self) -> Array:
        """The biases that are added to the scores, zero where a key is masked.   (B, H, N, M)"""
        bias = np.zeros((self.B, self.H, self.N, self.M))
        if self.mask is not None and self.mask.dtype != bool:
            bias = np.where(self.allowed, self.mask, bias)
        return bias if self.slopes is None else np.where(self.allowed, bias + self.slant, 0)

    @once
    def idle(self) -> Array:
        """True where a query may attend to no key and its head has no finite sink.   (B, H, N)"""
        idle = np.logical_not(self.allowed.any(axis=-1))
        return idle if self.sinks is None else idle & np.isneginf(self.sinks)[:, None]


@dataclass(frozen=True)
class Gradients:
    """The derivatives of the loss, each shaped like the array it is taken with respect to.

    bias: (B, H, N, M) or as the mask is. sinks: (H,). slopes: (H,) or (B, H). None: not computed.
    """

    q: Array
    k: Array
    v: Array
    bias: Array | None = None
    sinks: Array | None = None
    slopes: Array | None = None
