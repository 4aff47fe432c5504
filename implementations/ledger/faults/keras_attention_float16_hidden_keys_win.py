"""keras 3.15.1: keras.layers.Attention in float16 attends to a value that its mask hides.

The layer subtracts 65504 from masked scores instead of replacing them. A float16 score can be 65504
itself: masked, it becomes 0, and wins against a visible score of -100. Expected: the only visible
value, 0. This happens on the JAX and NumPy backends. On torch the comparison of the dtype with
"float16" is never true, so 1e9 is subtracted and the result is correct.
"""

import os

os.environ["KERAS_BACKEND"] = "jax"

import keras
import numpy as np

query = np.array([[[1.0]]], np.float16)
key, value = (np.array(x, np.float16).reshape(1, 2, 1) for x in ([-100, 65504], [0, 1]))
mask = [np.array([[True]]), np.array([[True, False]])]
layer = keras.layers.Attention(dtype="float16")
got = float(np.asarray(layer([query, value, key], mask=mask)).item())
print(f"got {got}, want 0.0: the only visible value")
assert got == 0.0
