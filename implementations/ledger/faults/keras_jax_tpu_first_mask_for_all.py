"""keras 3.15.1, JAX backend on a TPU: all sequences of a batch get the mask of the first one.

dot_product_attention passes mask[0], or mask[0, 0], to splash attention, whose masks differ by head
and not by sequence. A bias is not passed on at all. Here the script makes Keras believe that it
runs on a TPU, and JAX's interpreter runs the kernel. Expected, for two sequences of which the
second may attend only to its second key, whose value is 1: 1 in the second sequence.
"""

import os

os.environ["KERAS_BACKEND"] = "jax"

import functools
import types

import jax
import jax.numpy as jnp
import keras
import numpy as np
from keras.src.backend.jax import nn

splash = nn.splash_attention_kernel
splash.make_splash_mha = functools.partial(splash.make_splash_mha, interpret=True)
query, mask = jnp.zeros((2, 128, 1, 128)), np.zeros((2, 1, 128, 128), bool)
mask[0, :, :, 0] = mask[1, :, :, 1] = True
jax.devices = lambda *_: [types.SimpleNamespace(platform="tpu")]
value = query.at[:, 1].set(1.0)
got = keras.ops.dot_product_attention(query, query, value, mask=mask)[1, 0, 0, 0].item()
print(f"got {got}, want 1.0 (0.0 is the value that the first sequence may see)")
assert got == 1.0
