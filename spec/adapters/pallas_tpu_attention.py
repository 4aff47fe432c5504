"""Flash attention for TPUs that comes with JAX's Pallas, run by Pallas's interpreter.

Arrays are (batch, heads, length, width); lengths are multiples of 128, the smallest block. The
default scale of the kernel is 1; the adapter passes 1 / sqrt(D).
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array
from jax.experimental.pallas import tpu
from jax.experimental.pallas.ops.tpu import flash_attention as kernel

tpu.set_tpu_interpret_mode()  # for gradients too: they are traced after the call has returned


def attend(
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    query_segments: Array | None = None,
    key_segments: Array | None = None,
) -> Array:
    """query (B, H, N, D), key, value (B, H, M, D) give (B, H, N, D).

    bias broadcasts to (B, H, N, M). Raises ValueError for lengths that are not multiples of a
    block.
    """
    shape = (*query.shape[:3], key.shape[2])
    segments = None
    if query_segments is not None and key_segments is not None:
        segments = kernel.SegmentIds(q=query_segments, kv=key_segments)
    return kernel.flash_attention(
        query,
        key,
        value,
        None if bias is None else jnp.broadcast_to(bias, shape),
        segments,
        causal=is_causal,
        sm_scale=query.shape[-1] ** -0.5 if scale is None else scale,
        block_sizes=kernel.BlockSizes.get_default(*shape, query.shape[-1]),
    )
