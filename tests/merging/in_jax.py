"""A merge in JAX, as it is written where gradients are wanted: infinities are taken out first."""

import jax
import jax.numpy as jnp


def merge(
    o_1: jax.Array, lse_1: jax.Array, o_2: jax.Array, lse_2: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """o and lse of both.   o_i (B, H, N, E), lse_i (B, H, N)"""
    s = jnp.stack([lse_1, lse_2])
    o = jnp.stack([o_1, o_2]).astype(s.dtype)
    live = ~jnp.isneginf(s)
    some = live.any(axis=0)
    s = jnp.where(live, s, 0)
    top = jax.lax.stop_gradient(jnp.where(live, s, -jnp.inf).max(axis=0))
    top = jnp.where(some, top, 0)
    e = jnp.where(live, jnp.exp(jnp.where(live, s - top, 0)), 0)
    total = jnp.where(some, e.sum(axis=0), 1)
    lse = jnp.where(some, top + jnp.log(total), -jnp.inf)
    merged = ((e / total)[..., None] * jnp.where(live[..., None], o, 0)).sum(axis=0)
    return merged.astype(o_1.dtype), lse.astype(lse_1.dtype)
