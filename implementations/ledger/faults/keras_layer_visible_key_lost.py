"""keras 3.15.1: MultiHeadAttention loses the only visible key if scores are requested.

keras.layers.Softmax sets masked scores to -1e9, or to -30000 in float16, and neither is a lower
bound of the dtype. If the visible score is -1e10 (or -40000), the masked key wins the softmax. Its
weight is then set to zero, so that the weights of the row sum to zero. Expected: weight 1 for the
visible key. This happens on any backend.
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
