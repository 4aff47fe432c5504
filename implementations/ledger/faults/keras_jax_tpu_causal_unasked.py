"""keras 3.15.1, JAX backend on a TPU: dot_product_attention without a mask is always causal.

On a TPU, flash_attention=None selects splash attention if the lengths allow it.
wrap_flash_attention uses a CausalMask if it gets no mask, and it gets none if the call has neither
mask nor is_causal. Here the script makes Keras believe that it runs on a TPU, and JAX's interpreter
runs the kernel. Expected, if all scores are equal: the mean of the values 0 to 127, which is 63.5,
in every row, including the first.
"""

import os

os.environ["KERAS_BACKEND"] = "jax"

import functools
import types

import jax
import jax.numpy as jnp
import keras
from keras.src.backend.jax import nn

splash = nn.splash_attention_kernel
splash.make_splash_mha = functools.partial(splash.make_splash_mha, interpret=True)
query = jnp.zeros((1, 128, 1, 128))
value = query + jnp.arange(128.0)[None, :, None, None]
jax.devices = lambda *_: [types.SimpleNamespace(platform="tpu")]
got = keras.ops.dot_product_attention(query, query, value)[0, 0, 0, 0].item()
print(f"got {got} in the first row, want 63.5")
assert got == 63.5
