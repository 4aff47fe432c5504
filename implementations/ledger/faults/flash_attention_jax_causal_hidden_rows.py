"""flash-attention-jax 0.3.1: causal_flash_attention is NaN for more queries than keys.

The causal alignment is bottom-right, so that the first N - M queries are fully masked. Their sum of
weights is exp(-1e10 + 1e6) = 0 in spite of the epsilon, and their output is 0 / 0. A cotangent of
zero for these rows does not keep NaN out of the gradients of all values. Expected, for two queries
and one key: any finite number and 1, and for the value the gradient 1 from the query that attends
to it.
"""

import jax
import jax.numpy as jnp
from flash_attention_jax import causal_flash_attention

query, key, value = jnp.zeros((1, 1, 2, 1)), jnp.zeros((1, 1, 1, 1)), jnp.ones((1, 1, 1, 1))
print("output:", causal_flash_attention(query, key, value).ravel().tolist())
got = jax.grad(lambda v: causal_flash_attention(query, key, v)[0, 0, 1, 0])(value).item()
print(f"got the gradient {got}, want 1.0")
assert got == 1.0
