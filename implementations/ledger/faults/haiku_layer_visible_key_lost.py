"""dm-haiku 0.0.17: MultiHeadAttention loses the only visible key to a masked one.

Masked scores are set to -1e30, which is not a lower bound of float32. If the visible score is
-9e30, the masked key wins the softmax, and its value is returned. Expected: the value of the
visible key. Here each of two tokens may attend only to the other.
"""

import haiku
import jax.numpy as jnp


def attend(x, mask):
    """The output of a layer whose projections are the identity."""
    ones = haiku.initializers.Constant(1.0)
    return haiku.MultiHeadAttention(1, 1, w_init=ones, with_bias=False)(x, x, x, mask=mask)


x = jnp.array([[3e15], [-3e15]])
layer = haiku.transform(attend)
mask = ~jnp.eye(2, dtype=bool)[None]
got = layer.apply(layer.init(None, x, mask), None, x, mask)
print(f"got {got.ravel().tolist()}, want {x[::-1].ravel().tolist()}")
assert (got == x[::-1]).all()
