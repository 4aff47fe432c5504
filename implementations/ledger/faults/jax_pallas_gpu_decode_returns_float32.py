"""jax 0.10.2, jax.experimental.pallas.ops.gpu.decode_attention: 16-bit inputs return float32.

The output is divided by l.astype(o.dtype) + eps, where eps is a numpy.float32 and not a Python
float, so that JAX promotes the sum. mqa_reference and gqa_reference in the same module return the
dtype of the queries, and so does this function with normalize_output=False. Expected: bfloat16.
"""

import jax.numpy as jnp
from jax.experimental.pallas.ops.gpu.decode_attention import gqa, gqa_reference

query, key = jnp.zeros((1, 1, 16), jnp.bfloat16), jnp.zeros((1, 16, 1, 16), jnp.bfloat16)
print("the reference:", gqa_reference(query, key, key).dtype)
got = gqa(query, key, key, k_splits=1, interpret=True).dtype
print(f"got {got}, want bfloat16")
assert got == jnp.bfloat16
