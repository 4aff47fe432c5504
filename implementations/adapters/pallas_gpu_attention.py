"""The attention kernels for GPUs that come with JAX's Pallas, run by Pallas's interpreter.

`mha` is fused attention with a backward pass; `gqa` and `paged_attention` are decoding with one
query, split over the keys. Pages and lengths are the carriers that `paged` reads.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array
from jax.experimental.pallas.ops.gpu import attention, decode_attention, paged_attention

SPLITS = 1  # the parts of the keys, which have to divide their number


def attend(
    query: Array,
    key: Array,
    value: Array,
    is_causal: bool = False,
    scale: float | None = None,
    segment_ids: Array | None = None,
) -> Array:
    """query (B, N, H, D), key, value (B, M, H, D) give (B, N, H, D).

    segment_ids: (B, N), of queries and of keys. Raises ValueError: lengths beyond a block that no
    block divides. Of no scale, this kernel makes one; it is told 1 / sqrt(D).
    """
    asked = query.shape[-1] ** -0.5 if scale is None else scale
    return attention.mha(query, key, value, segment_ids, asked, is_causal, interpret=True)


def decode(
    query: Array,
    key: Array,
    value: Array,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - key heads are shared without asking
    key_value_seq_lengths: Array | None = None,
) -> Array:
    """query (B, 1, H, D), key, value (B, M, G, D) give (B, 1, H, D).

    key_value_seq_lengths: (B,), behind which there is padding. Raises AssertionError: fewer than
    16 keys.
    """
    if query.shape[1] != 1:
        raise ValueError("one query is decoded at a time")
    found = decode_attention.gqa(
        query[:, 0],
        key,
        value,
        None,
        key_value_seq_lengths,
        sm_scale=scale,
        k_splits=SPLITS,
        interpret=True,
    )
    return found[:, None]


def paged(
    q: Array,
    k_cache: Array,
    v_cache: Array,
    cache_seqlens: Array | None = None,
    block_table: Array | None = None,
    softmax_scale: float | None = None,
    softcap: float = 0.0,
) -> Array:
    """q (B, 1, H, D), pages (pages, size, G, D) give (B, 1, H, D).

    cache_seqlens: (B,); block_table: (B, pages of a text). The kernel has no scale, and is given
    queries that have been multiplied by it, as its own tests do.
    """
    if q.shape[1] != 1 or block_table is None:
        raise ValueError("one query is decoded at a time, from pages")
    asked = q.shape[-1] ** -0.5 if softmax_scale is None else softmax_scale
    pages = [jnp.moveaxis(x, 2, 0) for x in (k_cache, v_cache)]
    lengths = None if cache_seqlens is None else jnp.asarray(cache_seqlens, jnp.int32)
    found = paged_attention.paged_attention(
        q[:, 0] * jnp.asarray(asked, q.dtype),
        *pages,
        block_table,
        lengths,
        k_splits=SPLITS,
        pages_per_compute_block=1,
        attn_logits_soft_cap=softcap or None,
        interpret=True,
    )
    return found[:, None]
