"""keras.ops.dot_product_attention on the numpy backend, with torch's argument names.

Arrays are (batch, length, heads, width). Keras reads its backend at import, so that each backend
needs a separate module and a separate process.
"""

from __future__ import annotations

import os

os.environ["KERAS_BACKEND"] = "numpy"

from typing import Any

import keras

from spec.notation import Array


def attend(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - Keras has no such parameter
) -> Array:
    """query (B, N, H, D), key (B, M, G, D), value (B, M, G, E) give (B, N, H, E).

    attn_mask broadcasts to (B, H, N, M): booleans become Keras's mask, numbers its bias.
    """
    options: dict[str, Any] = {"scale": scale, "is_causal": is_causal}
    if attn_mask is not None:
        options["mask" if attn_mask.dtype == bool else "bias"] = attn_mask
    return keras.ops.dot_product_attention(query, key, value, **options)
