"""The words of attention: a problem, and its gradients.

A `Problem` is all that is asked at once: arrays, options, and the format and memory that they
come in. What a caller declares is a convention (`spec.attention.conventions`); what is asked of a
single call is an option (`spec.attention.options`).
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
# By a declared convention.
CHOSEN = (*CORNERS, "in_text", "signed_slopes", "caps_bias", "fast_tanh", "untouched", "merged")

# What hides keys beside a mask, as it is where it hides none.
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
        query i may attend to key j. Float: added to the scores after scaling, -inf forbids.
    causal: forbids the future; `corner` tells which diagonal that is when N != M.
    window: how many keys before a query and how many behind it are seen, beside the one at its
        place; None bounds nothing. `window_corner` tells its diagonal, None that it is `corner`.
    first: so many keys of the text, those at places below that, no left bound hides. scale: what is
        asked for; None asks for nothing, and means 1 / sqrt(D).
    softcap: what no score exceeds before anything is added, in either sign; None bounds none.
        `caps_bias` tells that it bounds the sum, `fast_tanh` that its tangent is a rough one.
    sinks: (H,), for each query head a score that takes weight and has no value; -inf takes none.
    slopes: (H,) or (B, H), for each query head what a score loses with each place that its key lies
        away from its query. `slopes_corner` tells the places, None that it is `corner`;
        `signed_slopes` that a key ahead gains as much.
    query_positions, key_positions: (B, N) and (B, M) integers, the places that causality, windows
        and slopes go by; where one is None it counts from 0, and where both are, corners tell.
    query_segments, key_segments: (B, N) and (B, M) integers, the texts that tokens belong to: a key
        is seen by queries of its own text. A negative one is padding: of no text at all. `in_text`
        tells that places are counted in each text, and not in the array.
    memory: how the arrays lie in it. page, added: how they reach who has keys in a cache: in pages
        of so many keys, 0 being none, and so many of each text new. spare: and who has texts
        packed: with so many tokens of no text at the end; `untouched` tells their rows are left,
        `merged` that parts of the keys are normalised before they meet.
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
        """Whether anything is added to the scores: an additive mask, or what slopes make of it."""
        return self.slopes is not None or (self.mask is not None and self.mask.dtype != bool)

    @property
    def sigma(self) -> float:
        """The scale that applies: the one asked for, else 1 / sqrt(D)."""
        return 1.0 / float(np.sqrt(self.D)) if self.scale is None else float(self.scale)

    @property
    def placed(self) -> bool:
        """Whether positions are given, of queries or of keys: then no corner has a say."""
        return self.query_positions is not None or self.key_positions is not None

    @property
    def restarts(self) -> bool:
        """Whether places are counted in each of several texts."""
        return self.in_text and self.query_segments is not None and not self.placed

    def ahead(self, corner: Corner) -> Array:
        """r_j - p_i, how far key j lies ahead of query i.   (N, M) or (B, 1, N, M)"""
        if not self.placed and not self.restarts:  # a corner says how rows lie
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
        """True for each of the first keys of the text.   (M,) or (B, 1, 1, M)"""
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
        """True where query i and key j are of one text, and no padding.   (B, 1, N, M)"""
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
        """|p_i - r_j|, or p_i - r_j where slopes are signed.   (N, M) or (B, 1, N, M)"""
        behind = -self.ahead(self.slopes_corner or self.corner)
        return behind if self.signed_slopes else np.abs(behind)

    @once
    def slant(self) -> Array:
        """-m_h |p_i - r_j|, what slopes add to the scores.   (B or 1, H, N, M)"""
        assert self.slopes is not None
        number = self.q.dtype if self.q.dtype.kind == "f" else np.float64  # no formula, no fraction
        return self.slopes.astype(number).reshape(-1, self.H, 1, 1) * -self.distance

    @once
    def bias(self) -> Array:
        """What is added to the scores, zero where a key is forbidden.   (B, H, N, M)"""
        bias = np.zeros((self.B, self.H, self.N, self.M))
        if self.mask is not None and self.mask.dtype != bool:
            bias = np.where(self.allowed, self.mask, bias)
        return bias if self.slopes is None else np.where(self.allowed, bias + self.slant, 0)

    @once
    def idle(self) -> Array:
        """True where a query may attend to no key, and to no sink.   (B, H, N)"""
        idle = np.logical_not(self.allowed.any(axis=-1))
        return idle if self.sinks is None else idle & np.isneginf(self.sinks)[:, None]


@dataclass(frozen=True)
class Gradients:
    """The derivatives of the loss, each shaped like what it is taken by.

    bias: (B, H, N, M) or as the mask is; sinks: (H,); slopes: (H,) or (B, H); None if not asked.
    """

    q: Array
    k: Array
    v: Array
    bias: Array | None = None
    sinks: Array | None = None
    slopes: Array | None = None
