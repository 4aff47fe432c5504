"""Splash attention, Pallas's kernel for TPUs with masks known in advance, in the interpreter.

Arrays are (batch, heads, length, width), and `jax.vmap` adds the batch. Causality and windows are
masks from which the kernel is made; the kernel itself has soft-caps, segments and attention sinks.
It has no scale: the adapter multiplies the queries by it. Lengths are multiples of 128.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as kernel
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as masks

from spec.attention.contents import UNBOUNDED, Window

TILE = 128
SIZES = ("q", "kv", "kv_compute", "q_dkv", "kv_dkv", "kv_dkv_compute", "q_dq", "kv_dq")


def attend(
    query: Array,
    key: Array,
    value: Array,
    is_causal: bool = False,
    scale: float | None = None,
    window_size: Window = UNBOUNDED,
    softcap: float | None = None,
    sinks: Array | None = None,
    query_segments: Array | None = None,
    key_segments: Array | None = None,
) -> Array:
    """query (B, H, N, D), key (B, H, M, D), value (B, H, M, D) give (B, H, N, D)."""
    (_, H, N, D), M = query.shape, key.shape[2]
    made = kernel.make_splash_mha(
        masks.MultiHeadMask([_mask((N, M), is_causal, window_size)] * H),
        head_shards=1,
        q_seq_shards=1,
        attn_logits_soft_cap=softcap,
        block_sizes=kernel.BlockSizes(**{f"block_{name}": TILE for name in SIZES}),
        interpret=True,
    )
    factor = jnp.asarray(D**-0.5 if scale is None else scale, query.dtype)
    if query_segments is None:
        return jax.vmap(lambda q, k, v: made(q, k, v, sinks=sinks))(query * factor, key, value)
    return jax.vmap(
        lambda q, k, v, i, j: made(q, k, v, segment_ids=kernel.SegmentIds(q=i, kv=j), sinks=sinks)
    )(query * factor, key, value, query_segments, key_segments)


def _mask(shape: tuple[int, int], is_causal: bool, window: Window) -> masks.Mask:
    """The mask of visible keys."""
    if window == UNBOUNDED:
        return masks.CausalMask(shape) if is_causal else masks.FullMask(shape)
    near = masks.LocalMask(shape, window, 0)
    return near & masks.CausalMask(shape) if is_causal else near
