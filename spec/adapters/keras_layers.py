"""The layers of Keras on its JAX backend, with torch's parameter names.

`MultiHeadAttention` has separate key heads, `GroupQueryAttention` can share them. Their scores are
the weights of each head; a mean over heads is not supported.
"""

from __future__ import annotations

import os

os.environ["KERAS_BACKEND"] = "jax"

from typing import Any

import jax.numpy as jnp
import keras

from spec.adapters.jax_layers import Given, by_heads, from_heads, plugged


def _called(layer: Any, given: Given) -> Any:
    """The output of a layer of Keras with these parameters, called with query, value, key."""
    query, key, value = given.inputs
    layer.build(query.shape, value.shape, key.shape)
    arrays = []
    for place in ("q", "k", "v", "out"):
        laid = from_heads if place == "out" else by_heads
        arrays += [x for x in laid(given.places[place], given.heads) if x is not None]
    mask = given.mask
    if mask is not None:
        mask = jnp.broadcast_to(mask, (len(query), *mask.shape[1:]))
    variables = layer.trainable_variables
    assert [x.shape for x in variables] == [x.shape for x in arrays]
    told = {"attention_mask": mask, "return_attention_scores": given.asked}
    return layer.stateless_call(arrays, [], query, value, key, **told)[0]


def _multi(given: Given) -> Any:
    """keras.layers.MultiHeadAttention."""
    layer = keras.layers.MultiHeadAttention(
        given.heads,
        given.inputs[0].shape[-1] // given.heads,
        use_bias=given.places["q"].bias is not None,
        dtype=str(given.inputs[0].dtype),
    )
    return _called(layer, given)


def _grouped(given: Given) -> Any:
    """keras.layers.GroupQueryAttention, with a key head for each query head."""
    layer = keras.layers.GroupQueryAttention(
        given.inputs[0].shape[-1] // given.heads,
        given.heads,
        given.heads,
        use_bias=given.places["q"].bias is not None,
        dtype=str(given.inputs[0].dtype),
    )
    return _called(layer, given)


MultiHeadAttention: Any = plugged("MultiHeadAttention", _multi, shows=True)
GroupQueryAttention: Any = plugged("GroupQueryAttention", _grouped, shows=True)
