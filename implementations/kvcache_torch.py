"""Attention to a cache in torch: `implementations.kvcache`, computed by `fused_torch`.

The lengths and the table are read on the CPU; pages stay on their device.
"""

from typing import Any

import torch
from torch import Tensor

from implementations import fused_torch
from implementations.kvcache import Cache, added, filled
from implementations.packed import NO_BOUND, options
from spec.notation import Array


def attend(
    q: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    cache_seqlens: Tensor,
    block_table: Tensor | None = None,
    k: Tensor | None = None,
    v: Tensor | None = None,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = NO_BOUND,
    softcap: float = 0.0,
    alibi_slopes: Tensor | None = None,
    sinks: Tensor | None = None,
    return_softmax_lse: bool = False,
) -> Any:
    """Return o_i = sum_j a_ij v_j over the keys in the cache for the sequence of query i.

    q (B, N, H, D) gives (B, N, H, E). k_cache (pages, page size, G, D) and v_cache
    (pages, page size, G, E) are in pages that block_table (B, pages of one) lists; without it they
    are (B, room, G, D) and (B, room, G, E). cache_seqlens (B,) is the number of keys of each
    sequence. k (B, n, G, D) and v (B, n, G, E) are written after these, into the cache, and are
    read as well. causal masks keys ahead, where the last query has the position of the last key.
    window_size (left, right) masks keys further away; -1 is no bound. softcap 0 is none.
    alibi_slopes (H,) and sinks (H,) are those of `implementations.fused_torch`. return_softmax_lse:
    also return the log-sum-exp (B, H, N).
    Raises ValueError if a length is negative, or more keys than a sequence has room for; if the
    table or the lengths have another number of sequences; if pages do not exist; if the numbers of
    new keys and new values differ; and for arguments that `fused_torch` does not accept. Then
    nothing is written.
    """

    def there(x: Array) -> Tensor:
        return torch.from_numpy(x).to(q.device)

    table = None if block_table is None else block_table.cpu().numpy()
    cache = Cache.of(k_cache, cache_seqlens.cpu().numpy(), table, len(q), added(len(q), k, v))
    said = options(softmax_scale, causal, window_size, softcap, alibi_slopes, sinks)
    for pages, new in ((k_cache, k), (v_cache, v)):
        if new is not None:
            pages[tuple(map(there, cache.behind))] = new
    keys = ([read(cache, x, b) for x in (k_cache, v_cache)] for b in range(len(q)))
    o = q.new_zeros((*q.shape[:3], v_cache.shape[3]))
    if not return_softmax_lse:
        return filled([(fused_torch.attend, o)], q, keys, said, there)[0]
    exact = torch.promote_types(q.dtype, torch.float32)
    lse = q.new_zeros((q.shape[0], q.shape[2], q.shape[1]), dtype=exact)
    return filled([(fused_torch.attend, o), (fused_torch.lse, lse)], q, keys, said, there)


def read(cache: Cache, pages: Tensor, sequence: int) -> Tensor:
    """Return the keys or values of a sequence in a row.   (length, G, width)"""
    used = torch.from_numpy(cache.used(sequence)).to(pages.device)
    row = pages.index_select(0, used).reshape(len(used) * cache.places, *pages.shape[2:])
    return row[: cache.lengths[sequence]]
