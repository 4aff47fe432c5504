"""flax's attention with options that have other names: nnx, with the weights that it sows.

`flax.linen.dot_product_attention` and `flax.nnx.dot_product_attention` are tested without an
adapter, with their parameters `mask`, `bias` and `is_causal`. nnx calls `jax.nn` unless it has
dropout or sows weights. `sown` passes a module to sow into, and so runs flax's code instead.
"""

from __future__ import annotations

from typing import Any

from flax import nnx
from flax.nnx.nn.attention import dot_product_attention_weights
from jax import Array


def sown(
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None = None,
    mask: Array | None = None,
    is_causal: bool = False,
    enable_gqa: bool = False,  # noqa: ARG001 - flax always shares key heads
) -> Array:
    """query (B, N, H, D), key (B, M, G, D), value (B, M, G, E) give (B, N, H, E).

    bias, mask: arrays that broadcast to (B, H, N, M); False in the mask masks a key.
    """
    return nnx.dot_product_attention(
        query, key, value, bias, mask, is_causal=is_causal, module=nnx.Module()
    )


def weights(query: Array, key: Array, value: Array, **options: Any) -> Array:
    """The weights that flax sows.   (B, H, N, M)"""
    del value
    options.pop("enable_gqa", None)
    return dot_product_attention_weights(query, key, **options)


sown.weights = weights  # type: ignore[attr-defined]
