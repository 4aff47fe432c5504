"""keras 3.15.1, JAX backend on a TPU: without a mask, dot_product_attention is causal, unasked.

On a TPU flash_attention=None means splash attention, where lengths allow it. wrap_flash_attention
takes a CausalMask where it gets no mask, and gets none where neither mask nor is_causal is given.
Here the platform is said to be a TPU, and JAX's own interpreter runs the kernel. Expected, all
scores being equal: the mean of the values 0 to 127, 63.5, in every row, the first included.
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
