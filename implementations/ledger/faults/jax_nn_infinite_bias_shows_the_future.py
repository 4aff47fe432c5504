"""jax 0.10.2, jax.nn.dot_product_attention: a bias of -inf makes a causal query see the future.

Truth values, causality and lengths fill hidden scores with -0.7 times the largest number, which is
more than the -inf of a bias. A query whose visible keys all have a bias of -inf therefore attends
to the keys that causality hides. Expected: nothing of the future: NaN (as for a bias of -inf
alone), a zero, or the mean that hidden rows return; not the value of the hidden key, 1.
"""

import jax
import jax.numpy as jnp

query, key = jnp.zeros((1, 1, 1, 1)), jnp.zeros((1, 2, 1, 1))
value, bias = jnp.array([0.0, 1.0]).reshape(1, 2, 1, 1), jnp.array([[[[-jnp.inf, 0.0]]]])
got = jax.nn.dot_product_attention(query, key, value, bias=bias, is_causal=True).item()
print(f"got {got}, want anything but 1.0, the value of a key in the future")
assert got != 1.0
