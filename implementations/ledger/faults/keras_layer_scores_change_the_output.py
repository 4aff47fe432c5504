"""keras 3.15.1: requesting scores changes MultiHeadAttention's output for a fully masked row.

A fully masked row returns the mean of the values without return_attention_scores (and without
dropout), and zero with it. The two paths use different fill values, and only the second, through
keras.layers.Softmax, then sets masked weights to zero. For such rows, training with dropout
therefore differs from inference too. Expected: one output. This happens on any backend.
"""

import os

os.environ.setdefault("KERAS_BACKEND", "jax")

import keras
import numpy as np

layer = keras.layers.MultiHeadAttention(num_heads=1, key_dim=1, kernel_initializer="ones")
x, mask = np.array([[[1.0], [3.0]]], np.float32), np.array([[[False, False], [True, True]]])
plain = np.asarray(layer(x, x, attention_mask=mask))[0, 0, 0]
scored = np.asarray(layer(x, x, attention_mask=mask, return_attention_scores=True)[0])[0, 0, 0]
print(f"got {plain} without the scores and {scored} with them, want one number")
assert plain == scored
