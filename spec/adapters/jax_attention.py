"""jax.nn.dot_product_attention with torch's argument names, in JAX's layout.

Arrays are (batch, length, heads, width). JAX calls a boolean mask `mask` and an additive one
`bias`. Key heads are shared without an option.

`attend` runs one operation after the other, as at a prompt. `compiled` is the same under `jax.jit`,
as in programs: it compiles once for each shape.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from spec.attention.contents import UNBOUNDED, Window

STATIC = ("is_causal", "enable_gqa", "window_size")  # static arguments: they select a program


def attend(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - JAX always shares key heads
    window_size: Window = UNBOUNDED,
    query_seq_lengths: Array | None = None,
    key_value_seq_lengths: Array | None = None,
) -> Array:
    """query (B, N, H, D), key (B, M, G, D), value (B, M, G, D) give (B, N, H, D).

    attn_mask broadcasts to (B, H, N, M). query_seq_lengths, key_value_seq_lengths: (B,) integers;
    tokens after the length are padding, and padding queries return zero. Raises ValueError if E !=
    D, which JAX does not support.
    """
    options = {"scale": scale, "is_causal": is_causal, **_masked(attn_mask)}
    options |= _windowed(window_size, query.shape[1] + key.shape[1])
    options["query_seq_lengths"] = query_seq_lengths
    options["key_value_seq_lengths"] = key_value_seq_lengths
    return jax.nn.dot_product_attention(query, key, value, **options)


def lse(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - as above
    window_size: Window = UNBOUNDED,
    query_seq_lengths: Array | None = None,
    key_value_seq_lengths: Array | None = None,
) -> Array:
    """The log-sum-exp (B, H, N), which JAX calls the residual."""
    options = {"scale": scale, "is_causal": is_causal, **_masked(attn_mask)}
    options |= _windowed(window_size, query.shape[1] + key.shape[1])
    options["query_seq_lengths"] = query_seq_lengths
    options["key_value_seq_lengths"] = key_value_seq_lengths
    _, found = jax.nn.dot_product_attention(query, key, value, return_residual=True, **options)
    return jnp.swapaxes(found, 1, 2)


def _masked(attn_mask: Array | None) -> dict[str, Any]:
    """The mask under JAX's name for its kind."""
    if attn_mask is None:
        return {}
    return {"mask" if attn_mask.dtype == jnp.bool_ else "bias": attn_mask}


def _windowed(window_size: Window, beyond: int) -> dict[str, Any]:
    """The window under JAX's name. A missing bound becomes a number longer than the sequence."""
    if window_size == UNBOUNDED:
        return {}
    left, right = (beyond if bound is None else bound for bound in window_size)
    return {"local_window_size": (left, right)}


# Boolean masks set scores to a finite number; a bias of -inf is added unchanged; the output of
# padding queries is multiplied by zero.
CONVENTIONS = {"fully-masked": "uniform", "fully-masked-bias": "nan", "padding-queries": "zero"}
attend.lse = lse  # type: ignore[attr-defined]
attend.conventions = CONVENTIONS  # type: ignore[attr-defined]
compiled: Any = jax.jit(attend, static_argnames=STATIC)
compiled.__name__ = "compiled"
compiled.conventions = CONVENTIONS
compiled.lse = jax.jit(lse, static_argnames=STATIC)
