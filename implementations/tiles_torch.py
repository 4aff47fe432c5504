"""The tiles of `implementations.fused_torch`: where they lie, and the scores in them.

Scores are kept in bits, that is times log2 e, because torch takes powers of 2 faster than
powers of e.
"""

from collections.abc import Iterator
from itertools import product
from math import inf, log

import torch
from torch import Tensor

from implementations.arguments import Window, blocks, cut, within_sight
from implementations.arguments_torch import capped, sunk, visible

KEYS = 768
BITS = 1 / log(2)  # log2 e
Tile = tuple[slice, Tensor, Tensor | None, Tensor | None]


def blocks_of_queries(
    query: Tensor, R: int, size: int
) -> Iterator[tuple[tuple[int, int, slice], tuple[int, int], slice]]:
    """Where each block of queries lies, which key head it reads, and which queries it holds."""
    B, H, N, _ = query.shape
    for b, h, rows in product(range(B), range(H), blocks(slice(0, N), size)):
        yield (b, h, rows), (b, h // R), rows


def tiles(
    q: Tensor, k: Tensor, mask: Tensor | None, window: Window, rows: slice, softcap: float | None
) -> Iterator[Tile]:
    """The tiles a block of queries sees something of: which keys, the scores, what is seen, cap'.

    q: (n, D), scaled    k: (M, D)    mask: (n, M)    scores: (n, keys), in memory used again
    by the next tile    seen: (n, keys), None for all
    """
    memory = q.new_empty(len(q) * KEYS)
    for cols in blocks(within_sight(rows, len(k), window), KEYS):
        part = None if mask is None else mask[:, cols]
        seen = None
        if part is not None or cut(rows, cols, window):
            seen = visible(part, window, rows, cols, q.device)
            if part is not None and not seen.any():
                continue
        s = memory[: len(q) * (cols.stop - cols.start)].view(len(q), -1)
        torch.mm(q, k[cols].T, out=s)
        slope = None
        if softcap is not None:
            c = softcap * BITS
            s = capped(s, c)
            slope = 1 - (s / c) ** 2
        if part is not None and part.dtype != torch.bool:
            s += (BITS * part.to(s.dtype)).clamp_(min=torch.finfo(s.dtype).min)
        if seen is not None:
            s.masked_fill_(~seen, -inf)
        yield cols, s, seen, slope


def in_bits(sinks: Tensor | None, o: Tensor) -> Tensor:
    """The sinks as they stand beside the scores: -inf for none, else finite.   (H, 1, 1)"""
    t, most = sunk(sinks, o.shape[1], o), torch.finfo(o.dtype).max
    return (BITS * t).clamp_(-most, most).where(t.isfinite(), t)[:, None, None]
