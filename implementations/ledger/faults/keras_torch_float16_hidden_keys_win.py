"""keras 3.15.1, torch backend, float16: a query attends to a masked key.

keras.ops.dot_product_attention passes a boolean mask to torch as numbers to add, 0 and -45850
(65500 * -0.7, rounded to float16). torch adds them to scores in float32, which can be larger. A
masked key with the score 65504 keeps 19654, and wins against a visible one with the score 0.
Expected: the value of the only visible key, 0, as the JAX and NumPy backends return it.
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
