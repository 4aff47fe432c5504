"""Attention in jax.numpy, compiled by jax.jit.

    attention-spec certify examples/jax_function.py:attend --profile quick --dtype float32

Expect "attend: certified (quick)" and exit code 0 after about half a minute. XLA compiles a program
for each shape, so test one format, with the quick profile, in which XLA optimises little. The tool
notices that the function compiles, and tests it on few shapes. JAX differentiates it, so it needs
no `backward`. For a function that is not decorated, `--compiled static` tests what jax.jit makes of
it. Options such as `is_causal` must be static: JAX raises an exception for a traced one in an `if`,
and the report says "unsupported".

The report also lists limits that are no failures: "fails (should)" for NaN at masked keys and
for subnormal numbers, which XLA flushes to zero, and "unsupported" for fewer key heads.
"""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="is_causal")
def attend(query, key, value, bias=None, mask=None, is_causal=False, scale=None):
    """Return the output (B, H, N, E) for query (B, H, N, D), key (B, H, M, D), value (B, H, M, E).

    The bias is added to the scores. True in the mask may attend. A fully masked query returns zero.
    """
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = jnp.einsum("bhnd,bhmd->bhnm", query, key) * scale
    if bias is not None:
        scores = scores + bias
    visible = ~jnp.isneginf(scores)
    if mask is not None:
        visible &= mask
    if is_causal:
        visible &= jnp.tri(*scores.shape[-2:], dtype=bool)
    weights = jax.nn.softmax(scores, axis=-1, where=visible)
    return jnp.einsum("bhnm,bhmd->bhnd", weights, value)
