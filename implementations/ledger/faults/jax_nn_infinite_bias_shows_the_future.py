"""jax 0.10.2, jax.nn.dot_product_attention: a bias of -inf lets queries attend to future keys.

Boolean masks, causality and lengths set masked scores to -0.7 times the largest number, which is
above the -inf of a bias. If all visible keys of a query have a bias of -inf, the query attends to
the keys that causality masks. Expected: no value from the future. NaN (as for a bias of -inf
alone), zero, and the mean that fully masked rows return would all be acceptable; the value of the
masked key, 1, is not.
"""

import jax
import jax.numpy as jnp

query, key = jnp.zeros((1, 1, 1, 1)), jnp.zeros((1, 2, 1, 1))
value, bias = jnp.array([0.0, 1.0]).reshape(1, 2, 1, 1), jnp.array([[[[-jnp.inf, 0.0]]]])
got = jax.nn.dot_product_attention(query, key, value, bias=bias, is_causal=True).item()
print(f"got {got}, want anything but 1.0, the value of a key in the future")
assert got != 1.0
