"""Packed attention: sequences follow each other in one array, with cumulative lengths.

    sequence t has the tokens cu_t, cu_t + 1, ..., cu_(t+1) - 1

Queries and keys have separate cumulative lengths. Arrays are (tokens, heads, width), without
padding. `implementations.fused` computes all of them as one sequence, with a segment for each, and
positions that start again in each: the last query has the position of the last key, as in
flash-attn. Keys of other sequences are not visited. Tokens after the last sequence are padding.
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
    max_seqlen_q: int,  # noqa: ARG001 - usual arguments; cumulative lengths suffice
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
    """Return o_i = sum_j a_ij v_j over the keys of the sequence of query i.

    q (queries, H, D), k (keys, G, D), v (keys, G, E) give (queries, H, E). cu_seqlens_q and
    cu_seqlens_k (sequences + 1) are integers: the start of each sequence, and the end of the last
    one. With a block_table (sequences, pages of one), k (pages, page size, G, D) and v
    (pages, page size, G, E) are in pages, and cu_seqlens_k counts the keys of each sequence there.
    max_seqlen_q and max_seqlen_k are upper bounds of the lengths, and have no influence. causal
    masks keys ahead, where the last query of a sequence has the position of its last key.
    window_size (left, right) masks keys further away; -1 is no bound. softcap 0 is none.
    alibi_slopes (H,) and sinks (H,) are those of `implementations.fused`. return_softmax_lse: also
    return the log-sum-exp (H, queries).
    Raises ValueError if cumulative lengths do not start with 0, decrease, or end after the tokens;
    if queries and keys have different numbers of sequences; if pages do not exist, or are too few;
    and for arguments that `fused` does not accept.
    """
    if block_table is not None:
        k, v = (x[places_of(x, block_table, cu_seqlens_k)] for x in (k, v))
    arrays = as_one(q), as_one(k), as_one(v)
    said = options(softmax_scale, causal, window_size, softcap, alibi_slopes, sinks)
    told = said | texts(cu_seqlens_q, cu_seqlens_k, len(q), len(k))
    o = unpacked(fused.attend(*arrays, **told))
    return (o, fused.lse(*arrays, **told)[0]) if return_softmax_lse else o


def derivative(of: Callable[..., Any]) -> Callable[..., Any]:
    """Return a gradient of `implementations.fused` for packed arrays, called like `attend`.

    In addition to dout it takes dlse, the cotangent of the log-sum-exp.   (H, queries)
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
    """Return the page and the slot there of each key, sequence by sequence.   two of (keys,)

    Raises ValueError if the table has another number of sequences, too few pages, or a page that
    does not exist.
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
    """Return packed tokens as one sequence, in NumPy or torch.

    (tokens, heads, width) -> (1, heads, tokens, width)
    """
    return x.swapaxes(0, 1)[None]


def unpacked(x: Any) -> Any:
    """Return the inverse of `as_one`."""
    return x[0].swapaxes(0, 1)


def options(
    scale: float | None,
    causal: bool,
    window: tuple[int, int],
    softcap: float,
    slopes: Any,
    sinks: Any,
) -> dict[str, Any]:
    """Return the options of a call under the names of `implementations.fused`."""
    left, right = (None if bound < 0 else bound for bound in window)
    sight: Window = (left, right)
    found = {"scale": scale, "is_causal": causal, "window_size": sight, "softcap": softcap or None}
    return {**found, "alibi_slopes": slopes, "sinks": sinks, "enable_gqa": True}


def texts(starts: Array, key_starts: Array, queries: int, keys: int) -> dict[str, Any]:
    """Return the segment and the position of each token.

    The last query of a sequence has the position of its last key.
    """
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
    """Return the sequence of each token, -1 for padding, and its position there."""
    segments, places = np.full(tokens, -1), np.arange(tokens)
    segments[: starts[-1]] = np.repeat(np.arange(len(lengths)), lengths)
    places[: starts[-1]] -= np.repeat(starts[:-1], lengths)
    return segments, places


def lengths_of(starts: Array, tokens: int) -> Array:
    """Return the length of each sequence. Raises ValueError for bad cumulative lengths."""
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
