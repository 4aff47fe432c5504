"""keras.ops.dot_product_attention on the JAX backend as on a TPU: by splash attention.

Arrays are (batch, length, heads, width). The adapter makes Keras believe that it runs on a TPU, and
JAX's interpreter runs the kernel, whose lengths and widths are multiples of 128. The mask must be
concrete when the kernel is made: under a compiler, Keras takes another path.
"""

from __future__ import annotations

import os

os.environ["KERAS_BACKEND"] = "jax"

import functools
import types
from typing import Any
from unittest import mock

import jax
import keras
from jax import Array
from keras.src.backend.jax import nn

kernel = nn.splash_attention_kernel
TPU = types.SimpleNamespace(platform="tpu")


def attend(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> Array:
    """query (B, N, H, D), key (B, M, H, D), value (B, M, H, D) give (B, N, H, D).

    attn_mask is boolean and broadcasts to (B, H, N, M).
    """
    options: dict[str, Any] = {"mask": attn_mask, "scale": scale, "is_causal": is_causal}
    made = functools.partial(kernel.make_splash_mha, interpret=True)
    with (
        mock.patch.object(kernel, "make_splash_mha", made),
        mock.patch.object(jax, "devices", return_value=[TPU]),
    ):
        return keras.ops.dot_product_attention(query, key, value, **options)
