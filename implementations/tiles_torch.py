"""The tiles of `implementations.fused_torch`: their scores.

Scores are in bits, that is, multiplied by log2 e, because torch computes powers of 2 faster than
powers of e.
"""

from collections.abc import Iterator
from math import inf, log
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from implementations.arguments import Sight
from implementations.arguments_torch import (
    Pair,
    accumulator,
    apart,
    capped,
    laid_out,
    steep,
    sunk,
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
)

QUERIES, KEYS = 384, 768
BITS = 1 / log(2)  # log2 e
Tile = tuple[slice, Tensor, Tensor | None, Tensor | None]


class How(NamedTuple):
    """Options that are not differentiated.

    texts, places: segments and positions of each sequence, None for none
    sigma: the scale    R: H / G
    """

    window: Sight
    sigma: float
    R: int
    softcap: float | None
    texts: list[Texts | None]
    places: list[Places | None]


class Block(NamedTuple):
    """Some queries of a head: their indices, their key head, and their tiles.

    q: (n, D)    k: (M, D)    v: (M, E)    tiles: those with a visible key
    """

    at: tuple[int, int, slice]
    head: tuple[int, int]
    q: Tensor
    k: Tensor
    v: Tensor
    tiles: Iterator[Tile]


def blocks_of_queries(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    slopes: Tensor | None,
    how: How,
) -> Iterator[Block]:
    """Yield the queries of every head in blocks, in the accumulator dtype."""
    (B, H, N, _), work = query.shape, accumulator(query.dtype)
    mask = None if attn_mask is None else attn_mask.expand(B, H, N, key.shape[2])
    own = slopes_in_bits(slopes, query.new_empty(B, H, dtype=work))
    for b, h in np.ndindex(B, H):
        head, m = (b, h // how.R), None if own is None else own[b, h]
        k, v = (laid_out(x[head], work) for x in (key, value))
        for rows in blocks_of_rows(N, how.texts[b], at_once(how.window, QUERIES)):
            at = b, h, rows
            q, part = laid_out(query[at], work), None if mask is None else mask[at]
            scaled = (how.sigma * BITS) * q
            yield Block(at, head, q, k, v, tiles(scaled, k, part, how, at, m))


def tiles(
    q: Tensor,
    k: Tensor,
    mask: Tensor | None,
    how: How,
    at: tuple[int, int, slice],
    m: Tensor | None,
) -> Iterator[Tile]:
    """Yield the tiles in which a block has a visible key: keys, scores, visible pairs, and cap'.

    q: (n, D), scaled    k: (M, D)    mask: (n, M)    m: the slope of the head, or None
    scores: (n, keys), which the next tile overwrites    visible pairs: (n, keys), None for all
    """
    memory, (b, _, rows) = q.new_empty(len(q) * KEYS), at
    texts, places = how.texts[b], how.places[b]
    for cols, own in blocks_of_keys(rows, len(k), how.window, texts, KEYS, places):
        part = None if mask is None else mask[:, cols]
        seen, hidden = None, part is not None or own is not None
        pair = positions(places, rows, cols, q.device)
        if hidden or cut(*extents(rows, cols, places), how.window):
            together = None if own is None else torch.from_numpy(own).to(q.device)
            seen = visible(part, how.window, rows, cols, q.device, together, pair)
            if hidden and not seen.any():
                continue
        s = memory[: len(q) * (cols.stop - cols.start)].view(len(q), -1)
        torch.mm(q, k[cols].T, out=s)
        slope = None
        if how.softcap is not None:
            c = how.softcap * BITS
            s = capped(s, c)
            slope = 1 - (s / c) ** 2
        if m is not None:
            s -= apart(rows, cols, s, pair).mul_(m)
        if part is not None and part.dtype != torch.bool:
            s += (BITS * part.to(s.dtype)).clamp_(min=torch.finfo(s.dtype).min)
        if seen is not None:
            s.masked_fill_(~seen, -inf)
        yield cols, s, seen, slope


def positions(places: Places | None, rows: slice, cols: slice, device: torch.device) -> Pair | None:
    """Return the positions of the queries (n, 1) and the keys (keys,) of a tile; None for rows."""
    if places is None:
        return None
    p, r = places.mine[rows, None], places.theirs[cols]
    return torch.from_numpy(p).to(device), torch.from_numpy(r).to(device)


def in_bits(sinks: Tensor | None, o: Tensor) -> Tensor:
    """Return the sinks with the axes of the scores: -inf for none, else finite.   (H, 1, 1)"""
    t, most = sunk(sinks, o.shape[1], o), torch.finfo(o.dtype).max
    return (BITS * t).clamp_(-most, most).where(t.isfinite(), t)[:, None, None]


def slopes_in_bits(slopes: Tensor | None, like: Tensor) -> Tensor | None:
    """Return the slopes for scores in bits, finite, or None without slopes.

    like: (B, H), as is the result
    """
    m, most = steep(slopes, like.shape, like), torch.finfo(like.dtype).max
    return None if m is None else (BITS * m).clamp_(-most, most)
