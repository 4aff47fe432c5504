"""keras 3.15.1: asking GroupQueryAttention for its scores changes a hidden row's output.

Without return_attention_scores (and dropout) a row from which all keys are hidden returns the mean
of the values, with it zero, as in MultiHeadAttention: the second path alone takes
keras.layers.Softmax, which puts hidden weights to zero. Expected: one output. On any backend.
"""

import os

os.environ.setdefault("KERAS_BACKEND", "jax")

import keras
import numpy as np

layer = keras.layers.GroupQueryAttention(1, 1, 1, kernel_initializer="ones")
x, mask = np.array([[[1.0], [3.0]]], np.float32), np.array([[[False, False], [True, True]]])
plain = np.asarray(layer(x, x, attention_mask=mask))[0, 0, 0]
scored = np.asarray(layer(x, x, attention_mask=mask, return_attention_scores=True)[0])[0, 0, 0]
print(f"got {plain} without the scores and {scored} with them, want one number")
assert plain == scored
