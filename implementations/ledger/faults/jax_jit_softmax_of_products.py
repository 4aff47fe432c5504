"""jax 0.10.2 on a CPU: under jax.jit a softmax of scores that are products is NaN from 1e10 on.

XLA repeats the multiplication by the scale inside the exponent, exp(q s - max), and fuses it with
the subtraction. The largest score minus itself is then the rounding error of the product, up to
half a unit in its last place, instead of zero; exp(256) is infinite. Without jit the result is
correct. jax.nn.dot_product_attention with a scale that is not a power of two shows the same fault,
and so does every attention that scales its scores. Expected: [1.0, 0.0].
"""

import jax
import jax.numpy as jnp


def softmax(x: jax.Array, scale: jax.Array) -> jax.Array:
    """softmax(scale x)."""
    return jax.nn.softmax(x * scale)


scores, scale = jnp.array([1.1e10, 0.7e10]), jnp.float32(1.3)
print("without jit:", softmax(scores, scale).tolist())
got = jax.jit(softmax)(scores, scale).tolist()
print(f"got {got}, want [1.0, 0.0]")
assert got == [1.0, 0.0]
