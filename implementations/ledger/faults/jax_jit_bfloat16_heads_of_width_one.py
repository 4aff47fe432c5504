"""jax 0.10.2 on a CPU: under jax.jit, bfloat16 attention with heads of width 1 ends the process.

If there are enough products, XLA passes them to YNNPACK, where a check in ynn_emitter.cc fails
("reshape vs. bitcast"). This is not an exception: the process aborts. Fewer heads or keys, a width
of 2, and float32 work. Expected: ones, the mean of values that are one.
"""

import jax
import jax.numpy as jnp

q, k = jnp.ones((1, 16, 16, 1), jnp.bfloat16), jnp.ones((1, 64, 16, 1), jnp.bfloat16)
print("want 1.0", flush=True)
got = jax.jit(jax.nn.dot_product_attention)(q, k, k).min().item()
print(f"got {got}")
assert got == 1
