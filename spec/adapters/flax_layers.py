"""The layers of flax, old (linen) and new (nnx), with torch's parameter names."""

from __future__ import annotations

from typing import Any

from flax import linen, nnx

from spec.adapters.jax_layers import Given, by_heads, from_heads, plugged

PLACES = {"q": "query", "k": "key", "v": "value", "out": "out"}


def _named(given: Given) -> dict[str, dict[str, Any]]:
    """The parameters under flax's names: kernels (in, H, D), and (H, D, out) for the output."""
    found = {}
    for ours, theirs in PLACES.items():
        laid = from_heads if ours == "out" else by_heads
        kernel, bias = laid(given.places[ours], given.heads)
        found[theirs] = {"kernel": kernel} | ({} if bias is None else {"bias": bias})
    return found


def _linen(given: Given) -> Any:
    """flax.linen.MultiHeadDotProductAttention."""
    layer = linen.MultiHeadDotProductAttention(
        num_heads=given.heads, use_bias=given.places["q"].bias is not None
    )
    return layer.apply({"params": _named(given)}, *given.inputs, mask=given.mask)


def _nnx(given: Given) -> Any:
    """flax.nnx.MultiHeadAttention."""
    width = given.inputs[0].shape[-1]
    layer = nnx.MultiHeadAttention(
        num_heads=given.heads,
        in_features=width,
        in_kv_features=given.inputs[1].shape[-1],
        use_bias=given.places["q"].bias is not None,
        decode=False,
        rngs=nnx.Rngs(0),
    )
    for place, arrays in _named(given).items():
        for name, x in arrays.items():
            setattr(getattr(layer, place), name, nnx.Param(x))
    return layer(*given.inputs, mask=given.mask)


Linen: Any = plugged("Linen", _linen)
Nnx: Any = plugged("Nnx", _nnx)
