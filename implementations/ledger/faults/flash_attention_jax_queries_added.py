"""flash-attention-jax 0.3.1: more than 1024 queries, not a multiple of 1024, return too many rows.

Queries are read in chunks of 1024, and all chunks are returned: of 1025 queries there come 2048
rows, of which those from 1024 on are not the queries in their places. causal_flash_attention and
rabe_attention raise a TypeError there. Expected: 1025 rows.
"""

import jax.numpy as jnp
from flash_attention_jax import flash_attention

query, key = jnp.zeros((1, 1, 1025, 1)), jnp.zeros((1, 1, 1, 1))
got = flash_attention(query, key, key, jnp.ones((1, 1), bool)).shape
print(f"got {got}, want (1, 1, 1025, 1)")
assert got == (1, 1, 1025, 1)
