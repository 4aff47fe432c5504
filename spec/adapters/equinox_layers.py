"""equinox's MultiheadAttention, which supports one sequence, with torch's parameter names.

`jax.vmap` adds a batch. A given mask applies to each sequence and each head.
"""

from __future__ import annotations

from typing import Any

import equinox
import jax
import jax.numpy as jnp

from spec.adapters.jax_layers import Given, plugged

PLACES = {"q": "query_proj", "k": "key_proj", "v": "value_proj", "out": "output_proj"}


def _equinox(given: Given) -> Any:
    """equinox.nn.MultiheadAttention."""
    widths = [x.shape[-1] for x in given.inputs]
    biases = ("query", "key", "value", "output")
    with_bias = given.places["q"].bias is not None
    layer = equinox.nn.MultiheadAttention(
        given.heads,
        *widths,
        **{f"use_{name}_bias": with_bias for name in biases},
        key=jax.random.key(0),
    )

    def parameters(layer: Any) -> list[Any]:
        found = [getattr(layer, theirs).weight for theirs in PLACES.values()]
        return found + [getattr(layer, x).bias for x in PLACES.values() if with_bias]

    places = [given.places[ours] for ours in PLACES]
    arrays = [p.weight for p in places] + [jnp.asarray(p.bias) for p in places if with_bias]
    layer = equinox.tree_at(parameters, layer, arrays)
    if given.mask is None:
        return jax.vmap(layer)(*given.inputs)
    (B, N, _), M = given.inputs[0].shape, given.inputs[1].shape[1]
    return jax.vmap(layer)(*given.inputs, jnp.broadcast_to(given.mask, (B, given.heads, N, M)))


MultiheadAttention: Any = plugged("MultiheadAttention", _equinox)
