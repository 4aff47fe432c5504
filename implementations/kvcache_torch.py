"""Keys from a cache in torch: `implementations.kvcache` in another language.

The lengths and the table are read on the machine that calls; pages stay on theirs.
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
    """o_i = sum_j a_ij v_j over the keys that the cache has for the sequence of query i.

    q (B, N, H, D) gives (B, N, H, E). k_cache (pages, places, G, D) and v_cache (pages, places, G,
    E) are read as block_table (B, pages of a sequence) says; without one they are (B, room, G, D)
    and (B, room, G, E). cache_seqlens (B,) says how many keys each sequence has. k (B, n, G, D) and
    v (B, n, G, E) are written behind these, into the cache, and are read as well. causal forbids
    keys ahead, the last query standing at the last key, and window_size (left, right) those further
    away, -1 being no bound. softcap 0 is none. alibi_slopes (H,) and sinks (H,) are as
    `implementations.fused_torch` has them. return_softmax_lse: the log-sum-exp (B, H, N) comes too.
    Raises ValueError: more keys than a sequence has room for, or fewer than none; a table or
    lengths of another number of sequences; pages that do not exist; new keys without values, or
    not as many; and what fused_torch does. Then nothing is written.
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
    """The keys or values of a sequence in a row.   (length, G, width)"""
    used = torch.from_numpy(cache.used(sequence)).to(pages.device)
    row = pages.index_select(0, used).reshape(len(used) * cache.places, *pages.shape[2:])
    return row[: cache.lengths[sequence]]
