"""jax.nn.dot_product_attention under torch's spelling, in JAX's own layout.

Arrays are (batch, length, heads, width). JAX calls a boolean mask `mask` and an
additive one `bias`; fewer key heads than query heads need no asking there.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array


def attend(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - JAX shares key heads without being asked
) -> Array:
    """query (B, N, H, D), key (B, M, G, D), value (B, M, G, D) give (B, N, H, D).

    attn_mask broadcasts to (B, H, N, M). Raises ValueError: what JAX does not support, E != D.
    """
    boolean = attn_mask is not None and attn_mask.dtype == jnp.bool_
    mask, bias = (attn_mask, None) if boolean else (None, attn_mask)
    return jax.nn.dot_product_attention(
        query, key, value, bias=bias, mask=mask, scale=scale, is_causal=is_causal
    )
