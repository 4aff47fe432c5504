"""flash-attention-jax 0.3.1: causal_flash_attention raises a TypeError for 1025 queries.

Queries are read in chunks of 1024. Two chunks give 2048 rows, which are reshaped to the 1025 rows
of the output. Expected: an output with 1025 rows.
"""

import jax.numpy as jnp
from flash_attention_jax import causal_flash_attention

query = key = value = jnp.zeros((1, 1, 1025, 1))
got: object
try:
    got = causal_flash_attention(query, key, value).shape
except TypeError as error:
    got = error
print(f"got {got}, want {query.shape}")
assert got == query.shape
