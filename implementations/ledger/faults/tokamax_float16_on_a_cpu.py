"""tokamax 0.0.12: the default implementation raises an exception for float16 on a CPU.

The documentation of dot_product_attention says that implementation=None "will automatically select
the best available backend, and is guaranteed to work on all platforms". On a CPU, float16 requests
a product F16_F16_F32, which does not exist there: both implementations ("xla", "xla_chunked") raise
a ValueError. bfloat16 works. Expected: 1.
"""

import jax.numpy as jnp
import tokamax

x = jnp.ones((1, 1, 1, 1), jnp.float16)
got = tokamax.dot_product_attention(x, x, x).item()
print(f"got {got}, want 1.0")
assert got == 1.0
