"""Packed: many texts in one array, one behind the other, told apart by where each starts.

    text t is the tokens cu_t, cu_t + 1, ..., cu_(t+1) - 1

of queries and of keys apart. Arrays are (tokens, heads, width), and no token is wasted on padding.
All of them are one sequence for `implementations.fused`, with a segment for each text, and places
that start again in each, the last query of a text standing at its last key, as flash-attn has it.
So who is of another text is not visited. Tokens behind the last text are of none.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from implementations import fused
from implementations.arguments import Window
from spec.notation import Array

NO_BOUND = (-1, -1)


def attend(
    q: Array,
    k: Array,
    v: Array,
    cu_seqlens_q: Array,
    cu_seqlens_k: Array,
    max_seqlen_q: int,  # noqa: ARG001 - as everywhere; the lengths tell
    max_seqlen_k: int,  # noqa: ARG001
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = NO_BOUND,
    softcap: float = 0.0,
    alibi_slopes: Array | None = None,
    sinks: Array | None = None,
    return_softmax_lse: bool = False,
    block_table: Array | None = None,
) -> Any:
    """o_i = sum_j a_ij v_j over the keys of the text of query i.

    q (queries, H, D), k (keys, G, D), v (keys, G, E) give (queries, H, E). cu_seqlens_q and
    cu_seqlens_k (texts + 1) are integers: where each text starts, and where the last one ends.
    With a block_table (texts, pages of one), k (pages, places, G, D) and v (pages, places, G, E)
    lie in pages, and cu_seqlens_k counts the keys of each text there. max_seqlen_q and max_seqlen_k
    are the lengths of the longest, or more, and tell nothing new. causal forbids keys ahead, the
    last query of a text standing at its last key, and window_size (left, right) those further away,
    -1 being no bound. softcap 0 is none. alibi_slopes (H,) and sinks (H,) are as
    `implementations.fused` has them. return_softmax_lse: the log-sum-exp
    (H, queries) comes as well.
    Raises ValueError: cumulative lengths that do not start with 0, fall, end behind the tokens, or
    are of another number of texts for queries than for keys; pages that do not exist, or too few;
    and what fused does.
    """
    if block_table is not None:
        k, v = (x[places_of(x, block_table, cu_seqlens_k)] for x in (k, v))
    arrays = as_one(q), as_one(k), as_one(v)
    said = options(softmax_scale, causal, window_size, softcap, alibi_slopes, sinks)
    told = said | texts(cu_seqlens_q, cu_seqlens_k, len(q), len(k))
    o = unpacked(fused.attend(*arrays, **told))
    return (o, fused.lse(*arrays, **told)[0]) if return_softmax_lse else o


def derivative(of: Callable[..., Any]) -> Callable[..., Any]:
    """A derivative that `implementations.fused` has, of packed arrays, and called like `attend`.

    Beside dout there may be dlse, the cotangent of the log-sum-exp.   (H, queries)
    """

    def called(
        dout: Array,
        q: Array,
        k: Array,
        v: Array,
        cu_seqlens_q: Array,
        cu_seqlens_k: Array,
        softmax_scale: float | None = None,
        causal: bool = False,
        window_size: tuple[int, int] = NO_BOUND,
        softcap: float = 0.0,
        alibi_slopes: Array | None = None,
        sinks: Array | None = None,
        dlse: Array | None = None,
    ) -> Any:
        said = options(softmax_scale, causal, window_size, softcap, alibi_slopes, sinks)
        told = said | texts(cu_seqlens_q, cu_seqlens_k, len(q), len(k))
        told |= {"dlse": None if dlse is None else dlse[None]}
        found = of(as_one(dout), as_one(q), as_one(k), as_one(v), **told)
        return tuple(map(unpacked, found)) if isinstance(found, tuple) else found

    return called


def places_of(pages: Any, table: Array, starts: Array) -> tuple[Array, Array]:
    """The page and the place of each key, text by text.   two of (keys,)

    Raises ValueError: a table of other texts, with too few pages, or with one that does not exist.
    """
    count, places = pages.shape[:2]
    lengths = np.diff(starts)
    if table.ndim != 2 or len(table) != len(lengths):
        raise ValueError(f"a table {tuple(table.shape)} of {len(lengths)} texts")
    room = places * table.shape[1]
    if (lengths > room).any():
        raise ValueError(f"texts of {lengths.tolist()} keys, and room for {room}")
    number = np.arange(lengths.sum()) - np.repeat(starts[:-1] - starts[0], lengths)
    found = table[np.repeat(np.arange(len(lengths)), lengths), number // max(places, 1)]
    if ((found < 0) | (found >= count)).any():
        raise ValueError(f"pages {np.unique(found).tolist()}, and there are {count}")
    return found, number % max(places, 1)


def as_one(x: Any) -> Any:
    """Tokens as those of one sequence, in NumPy or torch.

    (tokens, heads, width) -> (1, heads, tokens, width)
    """
    return x.swapaxes(0, 1)[None]


def unpacked(x: Any) -> Any:
    """The inverse of `as_one`."""
    return x[0].swapaxes(0, 1)


def options(
    scale: float | None,
    causal: bool,
    window: tuple[int, int],
    softcap: float,
    slopes: Any,
    sinks: Any,
) -> dict[str, Any]:
    """The options of a call in the spelling of `implementations.fused`."""
    left, right = (None if bound < 0 else bound for bound in window)
    sight: Window = (left, right)
    found = {"scale": scale, "is_causal": causal, "window_size": sight, "softcap": softcap or None}
    return {**found, "alibi_slopes": slopes, "sinks": sinks, "enable_gqa": True}


def texts(starts: Array, key_starts: Array, queries: int, keys: int) -> dict[str, Any]:
    """The segment and the place of each token: where a text ends, its queries and keys meet."""
    if len(starts) != len(key_starts):
        raise ValueError(f"{len(starts) - 1} texts of queries, and {len(key_starts) - 1} of keys")
    lengths, of_keys = lengths_of(starts, queries), lengths_of(key_starts, keys)
    segments, places = laid(starts, lengths, queries)
    places[: starts[-1]] += np.repeat(of_keys - lengths, lengths)
    key_segments, key_places = laid(key_starts, of_keys, keys)
    return {
        "query_segments": segments[None],
        "key_segments": key_segments[None],
        "query_positions": places[None],
        "key_positions": key_places[None],
    }


def laid(starts: Array, lengths: Array, tokens: int) -> tuple[Array, Array]:
    """Of which text each token is, and its place there; behind the last text, of none."""
    segments, places = np.full(tokens, -1), np.arange(tokens)
    segments[: starts[-1]] = np.repeat(np.arange(len(lengths)), lengths)
    places[: starts[-1]] -= np.repeat(starts[:-1], lengths)
    return segments, places


def lengths_of(starts: Array, tokens: int) -> Array:
    """How long each text is. Raises ValueError."""
    lengths = np.diff(starts)
    if starts.ndim != 1 or not len(starts) or starts[0] != 0 or (lengths < 0).any():
        raise ValueError(f"cumulative lengths rise from 0, unlike {np.asarray(starts).tolist()}")
    if starts[-1] > tokens:
        raise ValueError(f"texts of {starts[-1]} tokens in all, and there are {tokens}")
    return lengths


vars(attend).update(
    backward=derivative(fused.backward),
    sink_gradient=derivative(fused.sink_gradient),
    slope_gradient=derivative(fused.slope_gradient),
)
