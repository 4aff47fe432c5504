"""The attention kernels for GPUs that come with JAX's Pallas, run by Pallas's interpreter.

`mha` is fused attention with a backward pass. `gqa` and `paged_attention` are decoding with one
query, split over the keys; for these two, several queries become elements of the batch.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array
from jax.experimental.pallas.ops.gpu import attention, decode_attention, paged_attention

SPLITS = 1  # the number of parts of the keys, which must divide M


def attend(
    query: Array,
    key: Array,
    value: Array,
    is_causal: bool = False,
    scale: float | None = None,
    segment_ids: Array | None = None,
) -> Array:
    """query (B, N, H, D), key, value (B, M, H, D) give (B, N, H, D).

    segment_ids: (B, N), for queries and keys. Raises ValueError for lengths beyond a block that are
    not multiples of a block. The default scale of the kernel is 1; the adapter passes 1 / sqrt(D).
    """
    asked = query.shape[-1] ** -0.5 if scale is None else scale
    return attention.mha(query, key, value, segment_ids, asked, is_causal, interpret=True)


def decode(
    query: Array,
    key: Array,
    value: Array,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - key heads are always shared
    key_value_seq_lengths: Array | None = None,
) -> Array:
    """query (B, N, H, D), key, value (B, M, G, D) give (B, N, H, D).

    key_value_seq_lengths: (B,); keys after the length are padding. Raises AssertionError for fewer
    than 16 keys.
    """
    N = query.shape[1]
    lengths = key_value_seq_lengths
    found = decode_attention.gqa(
        query.reshape(-1, *query.shape[2:]),
        *(jnp.repeat(x, N, axis=0) for x in (key, value)),
        kv_seq_len=None if lengths is None else jnp.repeat(lengths, N),
        sm_scale=scale,
        k_splits=SPLITS,
        interpret=True,
    )
    return found.reshape(query.shape)


def paged(
    q: Array,
    k_cache: Array,
    v_cache: Array,
    cache_seqlens: Array | None = None,
    block_table: Array | None = None,
    softmax_scale: float | None = None,
    softcap: float = 0.0,
) -> Array:
    """q (B, N, H, D), pages (pages, size, G, D) give (B, N, H, D).

    cache_seqlens: (B,); block_table: (B, pages of a sequence). Without a block_table, each sequence
    has one page. The kernel has no scale, so the adapter multiplies the queries by it, as the
    kernel's tests do.
    """
    if block_table is None:
        block_table = jnp.arange(len(k_cache), dtype=jnp.int32)[:, None]
    N, lengths = q.shape[1], cache_seqlens
    asked = q.shape[-1] ** -0.5 if softmax_scale is None else softmax_scale
    found = paged_attention.paged_attention(
        (q * jnp.asarray(asked, q.dtype)).reshape(-1, *q.shape[2:]),
        *(jnp.moveaxis(x, 2, 0) for x in (k_cache, v_cache)),
        jnp.repeat(block_table, N, axis=0),
        None if lengths is None else jnp.repeat(jnp.asarray(lengths, jnp.int32), N),
        k_splits=SPLITS,
        pages_per_compute_block=1,
        attn_logits_soft_cap=softcap or None,
        interpret=True,
    )
    return found.reshape(q.shape)
