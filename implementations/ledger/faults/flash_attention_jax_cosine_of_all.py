"""flash-attention-jax 0.3.1, cosine_sim_flash_attention: the length of a key changes its weight.

l2norm divides by jnp.linalg.norm(t) of all tokens together. A cosine of a query and a key divides
each vector by its own length (axis=-1). Expected, for the keys 1 and 100, whose cosines with a
query are both 1: equal weights, and the mean of the values, 0.5.
"""

import jax.numpy as jnp
from flash_attention_jax import cosine_sim_flash_attention

query, key, value = jnp.ones((1, 1)), jnp.array([[1.0], [100.0]]), jnp.array([[0.0], [1.0]])
got = float(cosine_sim_flash_attention(query, key, value, jnp.ones(2, bool)).item())
print(f"got {got}, want 0.5")
assert got == 0.5
