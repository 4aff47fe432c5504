"""An attention function in JAX, tested as jax.jit compiles it.

    attention-spec certify examples/jax_function.py:attend --compiled static --profile quick --dtype float32 --clause A,C

Expect "attend: certified". XLA compiles a program for each shape, so one format and a few sections
are a good start. Leave `--clause` out to test everything; that takes minutes.
"""

import jax
import jax.numpy as jnp


def attend(query, key, value, mask=None, is_causal=False):
    """(B, H, N, D), (B, H, M, D), (B, H, M, E) -> (B, H, N, E); True in a mask may attend."""
    scores = jnp.einsum("bhnd,bhmd->bhnm", query, key) / query.shape[-1] ** 0.5
    allowed = jnp.ones(scores.shape[-2:], bool)
    if is_causal:
        allowed = jnp.tri(*scores.shape[-2:], dtype=bool)
    if mask is not None:
        allowed = allowed & mask
    weights = jax.nn.softmax(scores, axis=-1, where=allowed)
    return weights @ value
