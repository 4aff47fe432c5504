"""keras 3.15.1, JAX backend on a TPU: scores of dot_product_attention are not divided by sqrt(D).

A comment says "TPU kernel applies 1/sqrt(head_dim) internally", but splash attention does not scale
at all. Without a scale the effective scale is therefore 1, and a given scale is multiplied by
sqrt(D). Here the script makes Keras believe that it runs on a TPU, and JAX's interpreter runs the
kernel. Expected, for a second query whose products with two keys are 0 and 1, and D = 128: 1 / (1 +
exp(-1 / sqrt(128))) = 0.5221.
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
query, zeros = jnp.ones((1, 128, 1, 128)), jnp.zeros((1, 128, 1, 128))
key, value = zeros.at[:, 1].set(1 / 128), zeros.at[:, 1].set(1.0)
jax.devices = lambda *_: [types.SimpleNamespace(platform="tpu")]
got = keras.ops.dot_product_attention(query, key, value, is_causal=True)[0, 1, 0, 0].item()
print(f"got {got:.4f}, want 0.5221 (0.7311 is that of the scale 1)")
assert abs(got - 0.5221) < 1e-3
