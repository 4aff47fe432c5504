"""equinox's dot_product_attention, which knows one head of one text.

Batches and heads are what `jax.vmap` makes of it, as equinox's guide has it and as its own layer
does; a mask that is given is one of each text and each head.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from equinox.nn._attention import dot_product_attention, dot_product_attention_weights
from jax import Array


def attend(query: Array, key: Array, value: Array, mask: Array | None = None) -> Array:
    """query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E).

    mask (B, H, N, M) or what broadcasts to it: where it is False, nothing is seen. Raises
    TypeError: a mask of numbers, of which equinox would take the truth.
    """
    return jax.vmap(jax.vmap(dot_product_attention))(query, key, value, _whole(query, key, mask))


def weights(query: Array, key: Array, value: Array, mask: Array | None = None) -> Array:
    """The weights (B, H, N, M)."""
    del value
    return jax.vmap(jax.vmap(dot_product_attention_weights))(query, key, _whole(query, key, mask))


def _whole(query: Array, key: Array, mask: Array | None) -> Array | None:
    """The mask written out: equinox asks for the shape (N, M) of each."""
    if mask is None:
        return None
    if mask.dtype != bool:
        raise TypeError("equinox's mask is Bool[Array]")
    return jnp.broadcast_to(mask, (*query.shape[:3], key.shape[2]))


attend.weights = weights  # type: ignore[attr-defined]
