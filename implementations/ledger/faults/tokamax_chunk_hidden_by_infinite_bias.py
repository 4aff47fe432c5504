"""tokamax 0.0.12, implementation="xla_chunked": a bias of -inf on the first 1024 keys gives NaN.

Keys are read in chunks of 1024. If a bias of -inf masks all keys of the first chunk, the running
maximum is -inf, and both exp(logits - max) and exp(old max - max) are exp(-inf + inf). The row
stays NaN even if visible keys follow. Expected, for 1025 keys of which only the last is visible:
its value, 1, as implementation="xla" returns it.
"""

import jax.numpy as jnp
import tokamax

M = 1025
query, key, value = jnp.zeros((1, 1, 1, 1)), jnp.zeros((1, M, 1, 1)), jnp.ones((1, M, 1, 1))
bias = jnp.full((1, 1, 1, M), -jnp.inf).at[..., -1].set(0.0)
for name in ("xla", "xla_chunked"):
    got = tokamax.dot_product_attention(query, key, value, bias=bias, implementation=name).item()
    print(f"{name}: got {got}, want 1.0")
assert got == 1.0
