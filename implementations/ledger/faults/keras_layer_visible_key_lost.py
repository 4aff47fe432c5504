"""keras 3.15.1: MultiHeadAttention with its scores loses the only visible key.

keras.layers.Softmax fills hidden scores with -1e9, in float16 with -30000, and neither is a lower
bound of the format: beside a visible score of -1e10, or -40000, the hidden key wins the softmax,
and its weight is put to zero afterwards, so that the weights of the row sum to zero. Expected:
weight 1 for the visible key. On any backend.
"""

import os

os.environ.setdefault("KERAS_BACKEND", "jax")

import keras
import numpy as np

mask, found = np.array([[[False, True], [True, False]]]), []
for dtype, number in (("float32", 1e5), ("float16", 200.0)):
    layer = keras.layers.MultiHeadAttention(1, 1, use_bias=False, dtype=dtype)
    x = np.array([[[number], [-number]]], dtype)
    layer.build(x.shape, x.shape)
    layer.set_weights([np.ones(w.shape, np.float32) for w in layer.get_weights()])
    weights = layer(x, x, attention_mask=mask, return_attention_scores=True)[1]
    found.append(np.asarray(weights).ravel().tolist())
print(f"got weights {found}, want [0.0, 1.0, 1.0, 0.0] each: a query sees one key")
assert found == [[0.0, 1.0, 1.0, 0.0]] * 2
