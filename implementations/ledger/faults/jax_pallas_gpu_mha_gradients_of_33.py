"""jax 0.10.2, jax.experimental.pallas.ops.gpu.attention.mha: wrong gradients for 33 tokens.

The forward pass accepts any length up to 128 as one block; for longer sequences it raises an
exception unless 128 divides the length. The backward pass has blocks of 32 and does not check that
they divide the length. It reads past the end in the last block, where nothing is masked; Pallas's
interpreter reads NaN there. Expected, if all scores are equal: each of 33 values has the gradient
33 / 33 = 1.
"""

import jax
import jax.numpy as jnp
from jax.experimental.pallas.ops.gpu.attention import mha

x = jnp.zeros((1, 33, 1, 1))
got = jax.grad(lambda v: mha(x, x, v, None, interpret=True).sum())(x).ravel()
print(f"got {got[:2].tolist()}, want [1.0, 1.0]")
assert bool(jnp.allclose(got, 1.0))
