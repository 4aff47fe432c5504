"""flash-attention-jax 0.3.1: a row whose scores are all below a million returns zero, or NaN.

The maximum of a row starts from -1e6 instead of -inf, so that scores far below it are all
exp(-inf): flash_attention returns 0, causal_flash_attention NaN. A constant in all scores changes
no softmax. Expected: the mean of the values, 1.
"""

import jax.numpy as jnp
from flash_attention_jax import causal_flash_attention, flash_attention

query, key = jnp.full((1, 1, 1, 1), 2000.0), jnp.full((1, 1, 2, 1), -1000.0)
value = jnp.ones((1, 1, 2, 1))
got = float(flash_attention(query, key, value, jnp.ones((1, 2), bool)).squeeze())
causal = float(causal_flash_attention(query, key, value).squeeze())
print(f"got {got}, and {causal} of the causal function, want 1.0: both scores are -2e6")
assert (got, causal) == (1.0, 1.0)
