"""Functions of JAX for jax.jit: wrong under it alone, long to compile, or with sums cut off."""

import time

import jax
import jax.numpy as jnp

_kept = {"scale": 1.0}


def right(query, key, value, scale=None):
    s = query @ key.swapaxes(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    return jax.nn.softmax(s) @ value


def _lse(query, key, value, scale=None):  # noqa: ARG001
    s = query @ key.swapaxes(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    return jax.nn.logsumexp(s, axis=-1)


right.lse = _lse


def keeps_its_scale(query, key, value):
    """Keeps a number of Python between calls, which nobody writes where calls are traced."""
    s = query @ key.swapaxes(-1, -2)
    if not isinstance(s, jax.core.Tracer):
        _kept["scale"] = query.shape[-1] ** -0.5
    return jax.nn.softmax(s * _kept["scale"]) @ value


def asks_whether_a_scale_is_positive(query, key, value, scale=None):
    """Cannot be compiled with a scale that is data."""
    if scale is not None and scale < 0:
        return right(-query, key, value, -scale)
    return right(query, key, value, scale)


def rounds_a_scale(query, key, value, scale=None):
    """Right where the scale is a number of Python, and coarse where it is an array."""
    if isinstance(scale, jax.core.Tracer):
        scale = scale.astype(jnp.float16).astype(query.dtype)
    return right(query, key, value, scale)


slow = [2.5]  # seconds of the next times that it is traced


def compiles_slowly(query, key, value):
    """Takes its time at first, as a compiler that is loaded then does."""
    if isinstance(query, jax.core.Tracer) and slow:
        time.sleep(slow.pop())
    return right(query, key, value)


def cuts_sums_off(query, key, value):
    """Aligns what it adds up to the largest, and drops what is below 24 bits, as some GPUs do."""
    s = jnp.einsum("bhid,bhjd->bhij", query, key) / query.shape[-1] ** 0.5
    terms = jax.nn.softmax(s)[..., None] * value[..., None, :, :]
    ulp = 2.0 ** (jnp.floor(jnp.log2(jnp.abs(terms).max(-2, keepdims=True))) - 23)
    return (jnp.trunc(terms / ulp) * ulp).sum(-2)
