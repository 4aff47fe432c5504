"""The tiles of `implementations.fused`: their scores, and what is computed from these.

A tile has the shape (keys, queries): NumPy is fastest at taking the maximum of columns.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from implementations.arguments import (
    Sight,
    accumulator,
    apart,
    capped,
    everywhere,
    factor,
    group,
    labelled,
    laid_out,
    mixed,
    places,
    reference,
    steep,
    visible,
)
from implementations.tiling import (
    Places,
    Texts,
    at_once,
    blocks_of_keys,
    blocks_of_rows,
    cut,
    extents,
    places_of,
    texts_of,
)
from spec.notation import Array

QUERIES, KEYS = 256, 512  # a float32 tile has half a megabyte and stays in the level 2 cache


class Tile(NamedTuple):
    """The keys, the scores (keys, n), visible pairs (n, keys) or None for all, and cap' or None."""

    cols: slice
    s: Array
    seen: Array | None
    slope: Array | None


class Block(NamedTuple):
    """Some queries of a head: their indices, their key head, and their tiles.

    q: (n, D), scaled    k: (M, D)    v: (M, E)    tiles: those with a visible key
    """

    at: tuple[int, int, slice]
    head: tuple[int, int]
    q: Array
    k: Array
    v: Array
    tiles: Iterator[Tile]


def blocks_of_queries(
    query: Array,
    key: Array,
    value: Array,
    window: Sight,
    attn_mask: Array | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    softcap: float | None = None,
    alibi_slopes: Array | None = None,
    query_segments: Array | None = None,
    key_segments: Array | None = None,
    query_positions: Array | None = None,
    key_positions: Array | None = None,
) -> Iterator[Block]:
    """Yield the queries of every head in blocks, in the accumulator dtype."""
    (B, H, N, D), M, work = query.shape, key.shape[2], accumulator(query.dtype)
    R, sigma = group(H, key.shape[1], enable_gqa), work.type(factor(scale, D))
    mask, slopes = everywhere(attn_mask, (B, H, N, M)), steep(alibi_slopes, query.shape, work)
    texts = texts_of(labelled(query_segments, key_segments, (B, N, M)), B)
    pair = places(query, key, query_positions, key_positions)
    stand = places_of(pair if pair[0].ndim == 4 else None, B)
    for b, h in np.ndindex(B, H):
        head = b, h // R
        k, v = (laid_out(x[head], work) for x in (key, value))
        m = None if slopes is None else slopes[b, h]
        for rows in blocks_of_rows(N, texts[b], at_once(window, QUERIES)):
            at = b, h, rows
            q, part = sigma * laid_out(query[at], work), None if mask is None else mask[at]
            own = tiles(q, k, part, window, texts[b], stand[b], rows, softcap, m)
            yield Block(at, head, q, k, v, own)


def tiles(
    q: Array,
    k: Array,
    mask: Array | None,
    window: Sight,
    texts: Texts | None,
    stand: Places | None,
    rows: slice,
    softcap: float | None,
    m: Array | None,
) -> Iterator[Tile]:
    """Yield the tiles in which a block of queries has a visible key, each in the same memory.

    q: (n, D), scaled    k: (M, D)    mask: (n, M)    m: the slope of the head, or None
    """
    n, M = len(q), len(k)
    i = np.arange(rows.start, rows.stop) if stand is None else stand.mine[rows]
    memory = np.empty(KEYS * n, q.dtype)
    turned = np.ascontiguousarray(q.T)
    for cols, own in blocks_of_keys(rows, M, window, texts, KEYS, stand):
        part = None if mask is None else mask[:, cols]
        seen, hidden = None, part is not None or own is not None
        j = np.arange(cols.start, cols.stop) if stand is None else stand.theirs[cols]
        if hidden or cut(*extents(rows, cols, stand), window):
            seen = visible(part, window, i[:, None], j, own)
            if hidden and not seen.any():
                continue
        s = memory[: (cols.stop - cols.start) * n].reshape(-1, n)
        with np.errstate(over="ignore", invalid="ignore"):  # a masked key may hold any number
            np.matmul(k[cols], turned, out=s)
            s, slope = capped(s, softcap)
            if m is not None:
                d = apart(i, j[:, None], s.dtype)
                s -= np.multiply(d, m, out=d)
            if part is not None and part.dtype != bool:
                s += part.T
        if seen is not None:
            np.copyto(s, -np.inf, where=~seen.T)
        yield Tile(cols, s, seen, None if softcap is None else np.asarray(slope))


def absorb(s: Array, v: Array, seen: Array | None, o: Array, m: Array, t: Array) -> None:
    """Add the keys of one tile to the output o, the largest score m and the total t, in place.

    s: (keys, n), overwritten    v: (keys, E)    o: (n, E)    m, t: (n,)
    """
    top = np.maximum(m, s.max(axis=0))
    if (top != m).any():
        fade = np.exp(m - reference(top))
        o *= fade[:, None]
        t *= fade
        m[:] = top
    exponentials(s, m)
    t += s.sum(axis=0)
    o += mixed(s.T, v, seen)


def exponentials(s: Array, m: Array) -> None:
    """Replace s_ij by exp(s_ij - m_i), in place.   s: (keys, n)    m: (n,)"""
    np.subtract(s, reference(m), out=s)
    np.exp(s, out=s)


def weighted(e: Array, do: Array, v: Array, mean: Array, seen: Array | None) -> Array:
    """Return z_ij = e_ij (<dout_i, v_j> - mean_i).   (keys, n)"""
    with np.errstate(over="ignore", invalid="ignore"):  # a masked value may hold any number
        z: Array = v @ do.T
    if seen is not None:
        np.copyto(z, 0, where=~seen.T)
    z -= mean
    z *= e
    return z
