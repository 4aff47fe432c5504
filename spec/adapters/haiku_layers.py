"""haiku's MultiHeadAttention with torch's parameter names."""

from __future__ import annotations

from typing import Any

import haiku

from spec.adapters.jax_layers import Given, plugged

PLACES = {"q": "query", "k": "key", "v": "value", "out": "linear"}


def _haiku(given: Given) -> Any:
    """haiku.MultiHeadAttention."""
    width = given.inputs[0].shape[-1]
    with_bias = given.places["q"].bias is not None

    def called(*inputs: Any) -> Any:
        layer = haiku.MultiHeadAttention(
            given.heads,
            width // given.heads,
            w_init=haiku.initializers.Constant(0.0),
            with_bias=with_bias,
            name="layer",
        )
        return layer(*inputs, mask=given.mask)

    parameters = {}
    for ours, theirs in PLACES.items():
        weight, bias = given.places[ours]
        parameters[f"layer/{theirs}"] = {"w": weight.T} | ({} if bias is None else {"b": bias})
    return haiku.transform(called).apply(parameters, None, *given.inputs)


MultiHeadAttention: Any = plugged("MultiHeadAttention", _haiku)
