"""tokamax's dot_product_attention with torch's argument names, by implementations for CPUs.

Arrays are (batch, length, heads, width). `xla` computes all scores at once. `chunked` reads the
keys in chunks of 1024, and `small` is the same operator with chunks of four queries and eight keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import tokamax
from jax import Array
from tokamax._src.ops.attention.xla_chunked import XlaChunkedDotProductAttention

from spec.attention.contents import UNBOUNDED, Window

SMALL = (4, 8)  # queries and keys in a chunk


def _by(implementation: Any) -> Callable[..., Array]:
    """The function that runs one implementation."""

    def attend(
        query: Array,
        key: Array,
        value: Array,
        attn_mask: Array | None = None,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,  # noqa: ARG001 - key heads are always shared
        window_size: Window = UNBOUNDED,
        softcap: float | None = None,
        query_seq_lengths: Array | None = None,
        key_value_seq_lengths: Array | None = None,
    ) -> Array:
        """query (B, N, H, D), key (B, M, G, D), value (B, M, G, E) give (B, N, H, E).

        attn_mask broadcasts to (B, H, N, M); lengths are (B,). Raises the exceptions of tokamax.
        """
        options: dict[str, Any] = {}
        if attn_mask is not None:
            options["mask" if attn_mask.dtype == jnp.bool_ else "bias"] = attn_mask
        if window_size != UNBOUNDED:
            beyond = query.shape[1] + key.shape[1]
            options["local_window_size"] = tuple(beyond if x is None else x for x in window_size)
        return tokamax.dot_product_attention(
            query,
            key,
            value,
            scale=scale,
            is_causal=is_causal,
            logits_soft_cap=softcap,
            query_seq_lengths=query_seq_lengths,
            key_value_seq_lengths=key_value_seq_lengths,
            implementation=implementation,
            **options,
        )

    return attend


xla = _by("xla")
chunked = _by("xla_chunked")
small = _by([XlaChunkedDotProductAttention(chunk_size=SMALL)])
