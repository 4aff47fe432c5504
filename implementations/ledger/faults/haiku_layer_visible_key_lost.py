"""dm-haiku 0.0.17: MultiHeadAttention loses the only visible key to one that its mask hides.

Hidden scores are filled with -1e30, which is no lower bound of a float32: beside a visible score of
-9e30 the hidden key wins the softmax, and its value is returned. Expected: the value of the key
that a query sees. Here each of two sees the other.
"""

import haiku
import jax.numpy as jnp


def attend(x, mask):
    """A layer that projects nothing."""
    ones = haiku.initializers.Constant(1.0)
    return haiku.MultiHeadAttention(1, 1, w_init=ones, with_bias=False)(x, x, x, mask=mask)


x = jnp.array([[3e15], [-3e15]])
layer = haiku.transform(attend)
mask = ~jnp.eye(2, dtype=bool)[None]
got = layer.apply(layer.init(None, x, mask), None, x, mask)
print(f"got {got.ravel().tolist()}, want {x[::-1].ravel().tolist()}")
assert (got == x[::-1]).all()
