"""equinox's dot_product_attention, which supports one head of one sequence.

`jax.vmap` adds batches and heads, as in equinox's guide and in its layer. A given mask applies to
each sequence and each head.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from equinox.nn._attention import dot_product_attention, dot_product_attention_weights
from jax import Array


def attend(query: Array, key: Array, value: Array, mask: Array | None = None) -> Array:
    """query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E).

    mask: (B, H, N, M) or an array that broadcasts to it; False masks a key. Raises TypeError if the
    mask has numbers, which equinox would convert to booleans.
    """
    return jax.vmap(jax.vmap(dot_product_attention))(query, key, value, _whole(query, key, mask))


def weights(query: Array, key: Array, value: Array, mask: Array | None = None) -> Array:
    """The weights (B, H, N, M)."""
    del value
    return jax.vmap(jax.vmap(dot_product_attention_weights))(query, key, _whole(query, key, mask))


def _whole(query: Array, key: Array, mask: Array | None) -> Array | None:
    """The mask as a full array, because equinox needs the shape (N, M) for each head."""
    if mask is None:
        return None
    if mask.dtype != bool:
        raise TypeError("equinox's mask is Bool[Array]")
    return jnp.broadcast_to(mask, (*query.shape[:3], key.shape[2]))


attend.weights = weights  # type: ignore[attr-defined]
