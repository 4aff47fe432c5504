"""flash-attention-jax: attention with a padding mask, and causal attention.

Arrays are (batch, heads, length, width), and arguments have torch's names. `flash_attention` always
requires its mask (batch, keys). Its readme passes a mask of True to mask nothing.
"""

from __future__ import annotations

import jax.numpy as jnp
from flash_attention_jax import causal_flash_attention, flash_attention, rabe_attention
from jax import Array


def attend(query: Array, key: Array, value: Array) -> Array:
    """query (B, H, N, D), key (B, H, M, D), value (B, H, M, D) give (B, H, N, D)."""
    return flash_attention(query, key, value, jnp.ones((key.shape[0], key.shape[2]), bool))


def padded(
    query: Array, key: Array, value: Array, key_value_seq_lengths: Array | None = None
) -> Array:
    """As `attend`. key_value_seq_lengths: (B,); the mask is False for keys after the length."""
    M = key.shape[2]
    lengths = jnp.full(key.shape[0], M) if key_value_seq_lengths is None else key_value_seq_lengths
    return flash_attention(query, key, value, jnp.arange(M)[None, :] < lengths[:, None])


def causal(query: Array, key: Array, value: Array) -> Array:
    """query (B, H, N, D), key (B, H, M, D), value (B, H, M, D) give (B, H, N, D).

    The causal alignment is bottom-right: the last query may attend to the last key.
    """
    return causal_flash_attention(query, key, value)


def rabe(query: Array, key: Array, value: Array) -> Array:
    """query (N, D), key (M, D), value (M, E) give (N, E)."""
    return rabe_attention(query, key, value)
