"""flash-attention-jax 0.3.1: a row returns zero, or NaN, if all its scores are below -1e6.

The running maximum of a row starts from -1e6 instead of -inf. If all scores are far below that,
every weight is zero: flash_attention returns 0, causal_flash_attention NaN. A softmax does not
change if all scores change by the same constant. Expected: the mean of the values, 1.
"""

import jax.numpy as jnp
from flash_attention_jax import causal_flash_attention, flash_attention

query, key = jnp.full((1, 1, 1, 1), 2000.0), jnp.full((1, 1, 2, 1), -1000.0)
value = jnp.ones((1, 1, 2, 1))
got = float(flash_attention(query, key, value, jnp.ones((1, 2), bool)).squeeze())
causal = float(causal_flash_attention(query, key, value).squeeze())
print(f"got {got}, and {causal} of the causal function, want 1.0: both scores are -2e6")
assert (got, causal) == (1.0, 1.0)
