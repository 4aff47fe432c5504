"""flax's attention where its options have other names: nnx with weights that it shows.

`flax.linen.dot_product_attention` and `flax.nnx.dot_product_attention` are judged as they are, with
`mask`, `bias` and `is_causal` of their own. nnx hands over to `jax.nn` unless it has to drop out or
to sow; `sown` gives it a module to sow into, and so runs the lines that flax has of its own.
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
    enable_gqa: bool = False,  # noqa: ARG001 - flax shares key heads without being asked
) -> Array:
    """query (B, N, H, D), key (B, M, G, D), value (B, M, G, E) give (B, N, H, E).

    bias, mask broadcast to (B, H, N, M); where the mask is False, nothing is seen.
    """
    return nnx.dot_product_attention(
        query, key, value, bias, mask, is_causal=is_causal, module=nnx.Module()
    )


def weights(query: Array, key: Array, value: Array, **options: Any) -> Array:
    """What flax sows: the weights (B, H, N, M)."""
    del value
    options.pop("enable_gqa", None)
    return dot_product_attention_weights(query, key, **options)


sown.weights = weights  # type: ignore[attr-defined]
