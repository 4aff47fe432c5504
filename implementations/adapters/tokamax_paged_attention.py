"""tokamax's chunked operator where keys and values lie in pages, in flash-attn's words.

tokamax is told how much of each page counts, whoever reads it; flash-attn says how many keys each
text has, of which that follows. A page that no table names has a length of zero.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array
from tokamax._src.ops.attention.base import PagingInfo
from tokamax._src.ops.attention.xla_chunked import XlaChunkedDotProductAttention

ONE = 1  # query to a chunk, which has to divide their number


def attend(
    q: Array,
    k_cache: Array,
    v_cache: Array,
    cache_seqlens: Array,
    block_table: Array,
    softmax_scale: float | None = None,
) -> Array:
    """q (B, N, H, D), pages (pages, size, G, D) give (B, N, H, D).

    cache_seqlens: (B,); block_table: (B, pages of a text).
    """
    size, slots = k_cache.shape[1], jnp.arange(block_table.shape[1])
    filled = jnp.clip(cache_seqlens[:, None] - slots * size, 0, size)  # of the pages of a text
    told = PagingInfo(
        num_active_pages=-(-cache_seqlens // size),
        active_page_indices=block_table,
        lengths=jnp.zeros(len(k_cache), filled.dtype).at[block_table].max(filled),
    )
    operator = XlaChunkedDotProductAttention(chunk_size=ONE)
    asked = {} if softmax_scale is None else {"logits_scale": softmax_scale}
    return operator(q, k_cache, v_cache, paging_info=told, **asked)
