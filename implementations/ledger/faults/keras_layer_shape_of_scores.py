"""keras 3.15.1: MultiHeadAttention announces the scores of T queries and S keys as (B, H, T, T).

compute_output_spec uses the length of the queries for both axes of the scores. A functional model
of cross-attention therefore has a wrong static shape, and the layers after it are built for that
shape. Calling the layer returns (B, H, T, S), which is also what GroupQueryAttention announces.
Expected: (None, 1, 3, 5).
"""

import os

os.environ.setdefault("KERAS_BACKEND", "jax")

import keras

layer = keras.layers.MultiHeadAttention(num_heads=1, key_dim=1)
query, value = keras.Input((3, 4)), keras.Input((5, 4))
_, scores = layer(query, value, return_attention_scores=True)
print(f"got {scores.shape}, want (None, 1, 3, 5)")
assert scores.shape == (None, 1, 3, 5)
