"""flax 0.12.8, nnx.dot_product_attention: is_causal with a padding mask raises if it sows.

The documentation says that the mask "should be broadcastable to the shape [batch..., num_heads,
q_length, kv_length]". With dropout, or with a module to sow into, the causal mask is broadcast to
the shape of the given mask instead, and a mask (1, 1, 1, 2) raises a ValueError. Otherwise the same
call works. Expected: the shape (1, 2, 1, 1).
"""

import jax.numpy as jnp
from flax import nnx

x, mask = jnp.zeros((1, 2, 1, 1)), jnp.ones((1, 1, 1, 2), bool)
print("without a module:", nnx.dot_product_attention(x, x, x, mask=mask, is_causal=True).shape)
got = nnx.dot_product_attention(x, x, x, mask=mask, is_causal=True, module=nnx.Module()).shape
print(f"got {got}, want (1, 2, 1, 1)")
assert got == (1, 2, 1, 1)
