"""flash-attention-jax 0.3.1: more than 1024 keys, not a multiple of 1024, are counted twice.

Keys are read in chunks of 1024 by jax.lax.dynamic_slice, which moves a slice back if it would end
after the last key. With 1025 keys the second chunk is keys 1 to 1024 again: all keys except the
first get twice their weight, and no mask corrects this. Expected, if all scores are equal and only
the first value is 1: 1 / 1025. (The last query of causal_flash_attention shows the same.)
"""

import jax.numpy as jnp
from flash_attention_jax import flash_attention

M = 1025
query, key, mask = jnp.zeros((1, 1, 1, 1)), jnp.zeros((1, 1, M, 1)), jnp.ones((1, M), bool)
value = jnp.zeros((1, 1, M, 1)).at[0, 0, 0, 0].set(1.0)
got = M * float(flash_attention(query, key, value, mask)[0, 0, 0, 0])
print(f"got {got:.6f} / {M}, want 1 / {M}")
assert abs(got - 1) < 1e-4
