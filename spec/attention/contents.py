"""The contents of an attention problem: four records, in one of which each field is named.

    Inputs        queries, keys and values, and the cotangents of the results
    Options       the other arguments of a call, which may differ from call to call
    Conventions   the choices that mathematics leaves open; a caller declares them once
    Placement     the layout of the arrays in memory

A `Problem` is one of each: a function that only reads options takes `Options`, and gets either. The
records hold what they are given; a `Problem` checks it.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

from spec.notation import Array, Memory

Corner = Literal["top-left", "bottom-right"]
Window = tuple[int | None, int | None]
UNBOUNDED: Window = (None, None)


@dataclass(frozen=True, eq=False)
class Inputs:
    """The queries, keys and values of one problem, and the cotangents of its results.

    q: (B, H, N, D)   k: (B, G, M, D)   v: (B, G, M, E)   dout: (B, H, N, E)
    dlse: (B, H, N), None for zeros.
    """

    q: Array
    k: Array
    v: Array
    dout: Array
    _: KW_ONLY
    dlse: Array | None = None

    axes: ClassVar[Mapping[str, str]] = {
        "q": "B H N D",
        "k": "B G M D",
        "v": "B G M E",
        "dout": "B H N E",
        "dlse": "B H N",
    }


@dataclass(frozen=True, eq=False, kw_only=True)
class Options:
    """The options of one call; with the defaults, none is used.

    mask: broadcastable to (B, H, N, M), or None. Bool: True where query i may attend to key j.
        Float: added to the scores after scaling; -inf masks the key.
    causal: masks keys in the future.
    window: how many keys before and after its position a query may attend to, each None for no
        bound.
    first: no left bound of a window masks the leading keys, those at positions below this.
    scale: None for 1 / sqrt(D).
    softcap: a bound on the magnitude of the scores before a bias is added; None for no soft-cap.
    sinks: (H,), a score of each query head that takes weight and has no value; -inf takes none.
    slopes: (H,) or (B, H), ALiBi slopes: what a score loses for each position between its query and
        its key.
    query_positions, key_positions: (B, N) and (B, M) integers, the positions that causality,
        windows and slopes use. If one is None, it counts from 0; if both are, alignment decides.
    query_segments, key_segments: (B, N) and (B, M) integers, the sequence of each token: a query
        attends to keys of its own sequence only. Negative numbers are padding tokens, which belong
        to no sequence.
    """

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

    axes: ClassVar[Mapping[str, str]] = {
        "mask": "B H N M",
        "sinks": "H",
        "slopes": "B H",
        "query_positions": "B N",
        "key_positions": "B M",
        "query_segments": "B N",
        "key_segments": "B M",
    }


@dataclass(frozen=True, eq=False, kw_only=True)
class Conventions:
    """The choices of a target for the conventions (`spec.attention.conventions`).

    corner: the alignment of the causal diagonal if N != M. window_corner, slopes_corner: those of
        windows and of the positions of slopes, None for that of `corner`.
    in_text: positions count from 0 in each sequence.
    signed_slopes: a score of a key ahead of its query gains what a key behind it loses.
    slopes_by_key: a score gains its slope times the position of its key, which differs from a loss
        by distance by one number for each query.
    caps_bias: the soft-cap bounds the sum with the bias.
    fast_tanh: tanh is approximate. sigmoid_tanh: it is computed as 2 sigmoid(2 x) - 1.
    untouched: the output rows of padding tokens after packed sequences are left as they were.
    merged: parts of the keys are normalised before they are merged.
    """

    corner: Corner = "top-left"
    window_corner: Corner | None = None
    slopes_corner: Corner | None = None
    in_text: bool = False
    signed_slopes: bool = False
    slopes_by_key: bool = False
    caps_bias: bool = False
    fast_tanh: bool = False
    sigmoid_tanh: bool = False
    untouched: bool = False
    merged: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Placement:
    """The layout of the arrays in memory, which never changes a result.

    memory: the layout of each array. page: keys per page of a paged KV cache, 0 for no pages.
    added: how many keys of each sequence are new to the cache. spare: the number of padding tokens
    after packed sequences.
    """

    memory: Memory = "contiguous"
    page: int = 0
    added: int = 0
    spare: int = 0


# The options that can mask keys, apart from the mask; with these values they mask none.
NOTHING_HIDDEN: Mapping[str, Any] = {
    name: getattr(Options, name)
    for name in ("causal", "window", "first", "query_segments", "key_segments")
}
