"""jax 0.10.2, jax.experimental.pallas.ops.gpu.attention.mha: causal, N > M reads past the last key.

With causality, the loop over keys ends where the block of queries ends, at upper_bound =
ceil(block_q (start_q + 1) / block_k), and is not bounded by the number of keys. No mask covers what
is read after the last key; Pallas's interpreter reads NaN there. Expected, for two queries and one
key whose value is 1: 1 and 1.
"""

import jax.numpy as jnp
from jax.experimental.pallas.ops.gpu.attention import mha

query, key, value = jnp.zeros((1, 2, 1, 1)), jnp.zeros((1, 1, 1, 1)), jnp.ones((1, 1, 1, 1))
got = mha(query, key, value, None, sm_scale=1.0, causal=True, interpret=True).ravel().tolist()
print(f"got {got}, want [1.0, 1.0]")
assert got == [1.0, 1.0]
