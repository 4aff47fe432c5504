"""tokamax 0.0.12: a local window is wrong with more queries than keys.

The window has a row for each key, where it needs one for each query
(`k_indices = jnp.arange(key.shape[-3])`). implementation="xla" raises an exception about shapes.
implementation="xla_chunked" reads the rows in chunks of 128 queries by jax.lax.dynamic_slice,
which moves a slice back if it would end after the last row. Here the second chunk therefore has
the rows 72 to 199. Expected, with a window of one key: query 128 returns the value of key 128.
"""

import jax.numpy as jnp
import tokamax

N, M = 256, 200
query, key = jnp.zeros((1, N, 1, 1)), jnp.zeros((1, M, 1, 1))
value = jnp.arange(float(M)).reshape(1, M, 1, 1)
window = {"local_window_size": 0, "implementation": "xla_chunked"}
got = tokamax.dot_product_attention(query, key, value, **window)[0, :, 0, 0]
print(f"query 127: got {got[127]}, want 127.0\nquery 128: got {got[128]}, want 128.0")
assert got[128] == 128.0
