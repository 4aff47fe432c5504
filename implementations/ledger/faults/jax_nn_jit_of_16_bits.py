"""jax 0.10.2 on a CPU: jax.jit of jax.nn.dot_product_attention rejects float16, and some bfloat16.

The function requests products F16_F16_F32, or BF16_BF16_F32, in a try block, and uses the default
if the platform raises an exception. Under jit the exception comes at compile time, after the try
block: a CPU has no float16 products of that kind, and no bfloat16 ones with one row and one column.
Without jit both work. Expected: 1.0 and 1.0.
"""

import jax
import jax.numpy as jnp

attend = jax.jit(jax.nn.dot_product_attention)
seen = []
for dtype in (jnp.float16, jnp.bfloat16):
    x = jnp.ones((1, 1, 1, 1), dtype)
    print(f"{dtype.__name__} without jit: {jax.nn.dot_product_attention(x, x, x).item()}")
    try:
        got: object = attend(x, x, x).item()
    except Exception as refused:
        got = str(refused)[:80]
    print(f"got {got}, want 1.0")
    seen.append(got)
assert seen == [1.0, 1.0]
