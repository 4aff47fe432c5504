"""JAX 0.10.2, jax.nn.softmax in float16: gradients are wrong if exponentials add up to 256.

The derivative of e / t is ct / t - e ct / t^2, and t^2 is computed explicitly. From t = 256 on it
is 65536, beyond the 65504 of float16, so that 1 / t^2 is zero and the subtracted term is lost. With
equal scores this happens from 256 keys on; t itself is summed in float32. Expected: zero, because a
constant that is added to all scores changes nothing (the actual result is 1 / 256 for each).
"""

import jax
import jax.numpy as jnp

x = jnp.zeros(256, jnp.float16)
_, backward = jax.vjp(jax.nn.softmax, x)
(got,) = backward(jnp.ones_like(x))
print("got ", float(got[0]), "each, which add up to", float(got.astype(jnp.float32).sum()))
print("want", 0.0)
assert abs(float(got.astype(jnp.float32).sum())) < 0.01
