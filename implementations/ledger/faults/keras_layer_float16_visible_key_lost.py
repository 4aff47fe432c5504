"""keras 3.15.1, float16: MultiHeadAttention with its scores loses the only visible key.

keras.layers.Softmax fills hidden scores with -30000, which is no lower bound of a float16: beside a
visible score of -40000 the hidden key wins the softmax, and its weight is put to zero afterwards,
so that the weights of the row sum to zero. Expected: weight 1 for the visible key. On any backend.
"""

import os

os.environ.setdefault("KERAS_BACKEND", "jax")

import keras
import numpy as np

layer = keras.layers.MultiHeadAttention(1, 1, use_bias=False, dtype="float16")
x = np.array([[[200.0], [-200.0]]], np.float16)
layer.build(x.shape, x.shape)
layer.set_weights([np.ones(w.shape, np.float32) for w in layer.get_weights()])
mask = np.array([[[False, True], [True, False]]])
got = np.asarray(layer(x, x, attention_mask=mask, return_attention_scores=True)[1]).ravel().tolist()
print(f"got weights {got}, want [0.0, 1.0, 1.0, 0.0]: each query sees one key")
assert got == [0.0, 1.0, 1.0, 0.0]
