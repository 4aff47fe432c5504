"""keras 3.15.1: MultiHeadAttention announces the scores of T queries and S keys as (B, H, T, T).

compute_output_spec takes the length of the queries for both axes, so that a functional model of
cross-attention has a wrong static shape, and layers after it are built for it; calling the layer
returns (B, H, T, S), as GroupQueryAttention announces, too. Expected: (None, 1, 3, 5).
"""

import os

os.environ.setdefault("KERAS_BACKEND", "jax")

import keras

layer = keras.layers.MultiHeadAttention(num_heads=1, key_dim=1)
query, value = keras.Input((3, 4)), keras.Input((5, 4))
_, scores = layer(query, value, return_attention_scores=True)
print(f"got {scores.shape}, want (None, 1, 3, 5)")
assert scores.shape == (None, 1, 3, 5)
