"""flash-attention-jax 0.3.1: more than 1024 queries, not a multiple of 1024, give too many rows.

Queries are read in chunks of 1024, and all chunks are returned: 1025 queries give 2048 rows, and
the rows from 1024 on do not belong to the queries at these positions. causal_flash_attention and
rabe_attention raise a TypeError in this case. Expected: 1025 rows.
"""

import jax.numpy as jnp
from flash_attention_jax import flash_attention

query, key = jnp.zeros((1, 1, 1025, 1)), jnp.zeros((1, 1, 1, 1))
got = flash_attention(query, key, key, jnp.ones((1, 1), bool)).shape
print(f"got {got}, want (1, 1, 1025, 1)")
assert got == (1, 1, 1025, 1)
