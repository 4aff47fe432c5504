"""jax 0.10.2, jax.experimental.pallas.ops.gpu.attention.mha: wrong gradients of 33 tokens.

The forward pass takes one block of any length up to 128, and raises for lengths that 128 does not
divide. The backward pass has blocks of 32, does not ask whether they divide the length, and reads
past the end in the last one, where nothing is hidden. Pallas's interpreter reads NaN. Expected, all
scores being equal: each of 33 values has the gradient 33 / 33 = 1.
"""

import jax
import jax.numpy as jnp
from jax.experimental.pallas.ops.gpu.attention import mha

x = jnp.zeros((1, 33, 1, 1))
got = jax.grad(lambda v: mha(x, x, v, None, interpret=True).sum())(x).ravel()
print(f"got {got[:2].tolist()}, want [1.0, 1.0]")
assert bool(jnp.allclose(got, 1.0))
