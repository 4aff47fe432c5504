"""tokamax 0.0.12: a local window is wrong with more queries than keys.

The window has a row for each key, where it needs one for each query
(`k_indices = jnp.arange(key.shape[-3])`). implementation="xla" raises an exception about shapes.
implementation="xla_chunked" reads the rows in chunks of 1024 queries by jax.lax.dynamic_slice,
which moves a slice back if it would end after the last row. With 1500 keys the second chunk has
the rows 476 to 1499. Expected, with a window of one key: query 1024 returns the value of key 1024.
"""

import jax.numpy as jnp
import tokamax

N, M = 2048, 1500
query, key = jnp.zeros((1, N, 1, 1)), jnp.zeros((1, M, 1, 1))
value = jnp.arange(float(M)).reshape(1, M, 1, 1)
window = {"local_window_size": 0, "implementation": "xla_chunked"}
got = tokamax.dot_product_attention(query, key, value, **window)[0, :, 0, 0]
for n in (1023, 1024):
    print(f"query {n}: got {got[n]}, want {float(n)}")
assert got[1024] == 1024.0
