"""jax 0.10.2, jax.experimental.pallas.ops.gpu.attention.mha: fewer key heads give wrong output.

The kernel compares the widths of queries, keys and values, but not their numbers of heads. Query
head h reads key head h, and if there is no such head, Pallas's interpreter reads the last one. The
gradient of a shared key head is that of one query head only. Expected, for four query heads and two
key heads with the values 0 and 1: 0, 0, 1, 1, or a ValueError.
"""

import jax.numpy as jnp
from jax.experimental.pallas.ops.gpu.attention import mha

query, key = jnp.zeros((1, 1, 4, 1)), jnp.zeros((1, 1, 2, 1))
value = jnp.array([0.0, 1.0]).reshape(1, 1, 2, 1)
try:
    got = mha(query, key, value, None, interpret=True).ravel().tolist()
except ValueError:
    got = [0.0, 0.0, 1.0, 1.0]
print(f"got {got}, want [0.0, 0.0, 1.0, 1.0] or a ValueError")
assert got == [0.0, 0.0, 1.0, 1.0]
