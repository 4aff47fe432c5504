"""The vocabulary of attention: a problem, and its gradients.

A `Problem` holds everything about one call: arrays, options, the format of the arrays and their
memory layout. A caller declares a convention once (`spec.attention.conventions`); an option
may differ from call to call (`spec.attention.options`).
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from spec.attention import places
from spec.attention.refusals import refuse
from spec.notation import Array, Length, Memory, Posed, once

Corner = Literal["top-left", "bottom-right"]
Window = tuple[int | None, int | None]
UNBOUNDED: Window = (None, None)
CORNERS = ("corner", "window_corner", "slopes_corner")
# Set by declared conventions.
CHOSEN = (*CORNERS, "in_text", "signed_slopes", "caps_bias", "fast_tanh", "untouched", "merged")

# The options that can mask keys, apart from the mask; with these values they mask none.
NOTHING_HIDDEN: Mapping[str, Any] = {
    "causal": False,
    "window": UNBOUNDED,
    "first": 0,
    **dict.fromkeys(("query_segments", "key_segments")),
}


@dataclass(frozen=True, eq=False)
class Problem(Posed):
    """One attention problem, and the loss <dout, o> + <dlse, lse> to differentiate.

    q: (B, H, N, D)   k: (B, G, M, D)   v: (B, G, M, E)   dout: (B, H, N, E)
    dlse: (B, H, N), None for zeros. mask: broadcastable to (B, H, N, M), or None. Bool: True where
        query i may attend to key j. Float: added to the scores after scaling; -inf masks the key.
    causal: masks keys in the future. `corner` is the alignment of the diagonal if N != M.
    window: how many keys before and after its position a query may attend to, each None for no
        bound. `window_corner` is the alignment of the window, None for that of `corner`.
    first: no left bound of a window masks the leading keys, those at positions below this.
    scale: None for 1 / sqrt(D).
    softcap: a bound on the magnitude of the scores before a bias is added; None for no soft-cap.
        With `caps_bias` it bounds the sum with the bias; with `fast_tanh` tanh is approximate.
    sinks: (H,), a score of each query head that takes weight and has no value; -inf takes none.
    slopes: (H,) or (B, H), ALiBi slopes: what a score loses for each position between its query and
        its key. `slopes_corner` is the alignment of positions, None for that of `corner`. With
        `signed_slopes`, the score of a key ahead of its query gains as much instead.
    query_positions, key_positions: (B, N) and (B, M) integers, the positions that causality,
        windows and slopes use. If one is None, it counts from 0; if both are, alignment decides.
    query_segments, key_segments: (B, N) and (B, M) integers, the sequence of each token: a query
        attends to keys of its own sequence only. Negative numbers are padding tokens, which belong
        to no sequence. With `in_text`, positions count from 0 in each sequence.
    memory: the layout of the arrays. page: keys per page of a paged KV cache, 0 for no pages.
        added: how many keys of each sequence are new to the cache. spare: the number of padding
        tokens after packed sequences; with `untouched`, their output rows are left as they were.
        merged: parts of the keys are normalised before they are merged.
    """

    q: Array
    k: Array
    v: Array
    dout: Array
    _: KW_ONLY
    dlse: Array | None = None
    mask: Array | None = None
    causal: bool = False
    window: Window = UNBOUNDED
    first: int = 0
    scale: float | None = None
    softcap: float | None = None
    sinks: Array | None = None
    slopes: Array | None = None
    query_positions: Array | None = None
    key_positions: Array | None = None
    query_segments: Array | None = None
    key_segments: Array | None = None
    corner: Corner = "top-left"
    window_corner: Corner | None = None
    slopes_corner: Corner | None = None
    in_text: bool = False
    signed_slopes: bool = False
    caps_bias: bool = False
    fast_tanh: bool = False
    untouched: bool = False
    merged: bool = False
    memory: Memory = "contiguous"
    page: int = 0
    added: int = 0
    spare: int = 0

    shown_elsewhere: ClassVar[tuple[str, ...]] = (*Posed.shown_elsewhere, "memory", *CHOSEN)
    axes: ClassVar[Mapping[str, str]] = {
        "q": "B H N D",
        "k": "B G M D",
        "v": "B G M E",
        "dout": "B H N E",
        "dlse": "B H N",
        "mask": "B H N M",
        "sinks": "H",
        "slopes": "B H",
        "query_positions": "B N",
        "key_positions": "B M",
        "query_segments": "B N",
        "key_segments": "B M",
    }

    B = Length("q", 0)
    H = Length("q", 1)
    G = Length("k", 1)
    N = Length("q", 2)
    M = Length("k", 2)
    D = Length("q", 3)
    E = Length("v", 3)

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse(vars(self), B=self.B, H=self.H, N=self.N, M=self.M)

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
        if not self.placed and not self.restarts:  # rows are positions, up to the alignment
            shift = self.M - self.N if corner == "bottom-right" else 0
            return np.arange(self.M)[None, :] - (np.arange(self.N)[:, None] + shift)
        given = self.query_positions, self.key_positions
        if self.restarts:
            given = places.in_text(self.query_segments, self.key_segments, corner)
        lengths = self.N, self.M
        p, r = (
            np.arange(length)[None] if x is None else x.astype(np.int64)
            for x, length in zip(given, lengths, strict=True)
        )
        return r[:, None, None, :] - p[:, None, :, None]

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

    @once
    def distance(self) -> Array:
        """|p_i - r_j|, or p_i - r_j if slopes are signed.   (N, M) or (B, 1, N, M)"""
        behind = -self.ahead(self.slopes_corner or self.corner)
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
