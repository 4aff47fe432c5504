"""flash-attention-jax 0.3.1: more than 1024 keys, not a multiple of 1024, are counted twice.

Keys are read in chunks of 1024 by jax.lax.dynamic_slice, which moves a slice back that would end
behind the last key. With 1025 keys the second chunk is keys 1 to 1024 again, so that all keys but
the first have twice their weight; no mask knows of it. Expected, all scores being equal and only
the first value 1: 1 / 1025 (causal_flash_attention: the same, of the last query).
"""

import jax.numpy as jnp
from flash_attention_jax import flash_attention

M = 1025
query, key, mask = jnp.zeros((1, 1, 1, 1)), jnp.zeros((1, 1, M, 1)), jnp.ones((1, M), bool)
value = jnp.zeros((1, 1, M, 1)).at[0, 0, 0, 0].set(1.0)
got = M * float(flash_attention(query, key, value, mask)[0, 0, 0, 0])
print(f"got {got:.6f} / {M}, want 1 / {M}")
assert abs(got - 1) < 1e-4
