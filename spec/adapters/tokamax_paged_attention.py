"""tokamax's chunked operator with keys and values in pages, with flash-attn's argument names.

tokamax needs the number of valid keys in each page, independent of the sequence that reads it.
flash-attn has the number of keys of each sequence, from which the adapter computes it. A page that
no table names has the length zero.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array
from tokamax._src.ops.attention.base import PagingInfo
from tokamax._src.ops.attention.xla_chunked import XlaChunkedDotProductAttention

ONE = 1  # query in a chunk; the size must divide the number of queries


def attend(
    q: Array,
    k_cache: Array,
    v_cache: Array,
    cache_seqlens: Array,
    block_table: Array,
    softmax_scale: float | None = None,
) -> Array:
    """q (B, N, H, D), pages (pages, size, G, D) give (B, N, H, D).

    cache_seqlens: (B,); block_table: (B, pages of a sequence).
    """
    size, slots = k_cache.shape[1], jnp.arange(block_table.shape[1])
    filled = jnp.clip(cache_seqlens[:, None] - slots * size, 0, size)  # valid keys in each page
    told = PagingInfo(
        num_active_pages=-(-cache_seqlens // size),
        active_page_indices=block_table,
        lengths=jnp.zeros(len(k_cache), filled.dtype).at[block_table].max(filled),
    )
    operator = XlaChunkedDotProductAttention(chunk_size=ONE)
    asked = {} if softmax_scale is None else {"logits_scale": softmax_scale}
    return operator(q, k_cache, v_cache, paging_info=told, **asked)
