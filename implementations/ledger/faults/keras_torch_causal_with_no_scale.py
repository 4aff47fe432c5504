"""keras 3.15.1, torch backend: with causality, a scale of zero or less gives NaN.

Keras passes the scale to torch, whose flash kernel for CPUs adds -inf to future keys before it
multiplies by the scale: 0 * -inf is NaN. Expected, for one query and two keys, of which it may
attend to the first, whose value is 1: 1, as the JAX and NumPy backends return it.
"""

import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np

query, key = np.zeros((1, 1, 1, 1), np.float32), np.zeros((1, 2, 1, 1), np.float32)
got = keras.ops.dot_product_attention(query, key, key + 1, scale=0.0, is_causal=True).item()
print(f"got {got}, want 1.0")
assert got == 1.0
