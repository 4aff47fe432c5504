"""keras 3.15.1, torch backend, float16: a key that the mask hides is attended to.

keras.ops.dot_product_attention hands a boolean mask to torch as numbers to add, 0 and -45850, since
65500 * -0.7 is a float16. torch adds them to scores in float32, which may be larger: a hidden key
whose score is 65504 keeps 19654, and beats a visible one whose score is 0. Expected: the value of
the one key that is visible, 0, as the JAX and NumPy backends return it.
"""

import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np

query, key = (np.array(x, np.float16).reshape(1, -1, 1, 1) for x in ([1], [0, 65504]))
value = np.array([0, 1], np.float16).reshape(1, 2, 1, 1)
mask = np.array([True, False]).reshape(1, 1, 1, 2)
got = keras.ops.dot_product_attention(query, key, value, mask=mask).item()
print(f"got {got}, want 0.0: the only key that is visible has the value 0")
assert got == 0.0
