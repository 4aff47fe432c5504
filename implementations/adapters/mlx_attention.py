"""MLX's fused attention under torch's spelling, with the gradients of MLX.

Arrays are (batch, heads, length, width). A mask and causality are one argument of MLX's, so that
both at once cannot be asked for; the scale has no default there, and is what its guide calls
typical. Fewer key heads than query heads need no asking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt

import mlx.core as mx
import numpy as np

from spec.notation import Array

FORMATS = {"float64": mx.float64, "float32": mx.float32, "float16": mx.float16, "bool": mx.bool_}


def attend(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - MLX shares key heads without being asked
    sinks: Array | None = None,
) -> Array:
    """query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).

    attn_mask broadcasts to (B, H, N, M); sinks: (H,). The diagonal of causality starts from the
    bottom right. Raises ValueError: a mask beside causality, and whatever MLX refuses.
    """
    given = _given(query, key, value, attn_mask, sinks)
    return np.array(_called(is_causal, scale, list(given))(*given.values()))


def backward(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - as above
    sinks: Array | None = None,
) -> Mapping[str, Array]:
    """The gradients of whatever holds numbers, by the names of the parameters."""
    given = _given(query, key, value, attn_mask, sinks)
    _, found = mx.vjp(_called(is_causal, scale, list(given)), list(given.values()), [_array(dout)])
    told = zip(given, found, strict=True)
    return {name: np.array(x) for name, x in told if given[name].dtype != mx.bool_}


def _array(x: Array) -> mx.array:
    """An array of NumPy's as one of MLX's, which takes float64 where it is told to."""
    return mx.array(np.ascontiguousarray(x), dtype=FORMATS[x.dtype.name])


def _given(
    query: Array, key: Array, value: Array, attn_mask: Array | None, sinks: Array | None
) -> dict[str, mx.array]:
    """What is there of the arrays, by the names of the parameters."""
    named = {"query": query, "key": key, "value": value, "attn_mask": attn_mask, "sinks": sinks}
    return {name: _array(x) for name, x in named.items() if x is not None}


def _called(is_causal: bool, scale: float | None, names: list[str]) -> Callable[..., mx.array]:
    """MLX's function of arrays that have these names, in this order.

    Raises ValueError: a mask beside causality.
    """
    if is_causal and "attn_mask" in names:
        raise ValueError("MLX takes a mask or 'causal' in its place")

    def called(*arrays: mx.array) -> mx.array:
        q, k, v, *rest = arrays
        told = dict(zip(names[3:], rest, strict=True))
        return mx.fast.scaled_dot_product_attention(
            q,
            k,
            v,
            scale=1 / sqrt(q.shape[-1]) if scale is None else scale,
            mask="causal" if is_causal else told.get("attn_mask"),
            sinks=told.get("sinks"),
        )

    return called


# MLX: "The "causal" mask uses lower-right alignment where the last query aligns with the last key".
FILLED = {"fully-masked": "uniform", "fully-masked-bias": "nan"}
attend.conventions = {"causal": "bottom-right", **FILLED}  # type: ignore[attr-defined]
attend.backward = backward  # type: ignore[attr-defined]
