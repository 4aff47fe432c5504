"""jax 0.10.2 on a CPU: under jax.jit, bfloat16 attention of heads of width 1 ends the process.

XLA hands the products to YNNPACK where there are enough of them, and a check in its ynn_emitter.cc
fails ("reshape vs. bitcast"), which is no exception: the process is aborted. Fewer heads or keys,
or a width of 2, work, and so does float32. Expected: ones, the mean of values that are one.
"""

import jax
import jax.numpy as jnp

q, k = jnp.ones((1, 16, 16, 1), jnp.bfloat16), jnp.ones((1, 64, 16, 1), jnp.bfloat16)
print("want 1.0", flush=True)
got = jax.jit(jax.nn.dot_product_attention)(q, k, k).min().item()
print(f"got {got}")
assert got == 1
