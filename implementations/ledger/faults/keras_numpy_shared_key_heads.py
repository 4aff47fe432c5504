"""keras 3.15.1, NumPy backend: fewer key heads than query heads raise, against the documentation.

The documentation of keras.ops.dot_product_attention says "grouped query attention (GQA) is
performed if N is a multiple of K". On the NumPy backend, four query heads with two key heads raise
a ValueError in numpy.einsum. (One key head works, by broadcasting.) Expected: the shape
(1, 1, 4, 1), as the JAX and torch backends return it.
"""

import os

os.environ["KERAS_BACKEND"] = "numpy"

import keras
import numpy as np

query, key = np.zeros((1, 1, 4, 1), np.float32), np.zeros((1, 1, 2, 1), np.float32)
got = keras.ops.dot_product_attention(query, key, key).shape
print(f"got {got}, want (1, 1, 4, 1)")
assert got == (1, 1, 4, 1)
