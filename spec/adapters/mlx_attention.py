"""MLX's fused attention with torch's argument names, and with the gradients of MLX.

Arrays are (batch, heads, length, width). MLX has one argument for a mask or causality, so that a
call cannot have both. It has no default scale; the adapter uses the one that its guide calls
typical. Key heads are shared without an option.
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
    enable_gqa: bool = False,  # noqa: ARG001 - MLX always shares key heads
    sinks: Array | None = None,
) -> Array:
    """query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).

    attn_mask broadcasts to (B, H, N, M); sinks: (H,). The causal alignment is bottom-right. Raises
    ValueError for a mask together with causality, and any exception of MLX.
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
    """The gradients of all arrays of numbers, by parameter name."""
    given = _given(query, key, value, attn_mask, sinks)
    _, found = mx.vjp(_called(is_causal, scale, list(given)), list(given.values()), [_array(dout)])
    told = zip(given, found, strict=True)
    return {name: np.array(x) for name, x in told if given[name].dtype != mx.bool_}


def _array(x: Array) -> mx.array:
    """A NumPy array as an MLX array; MLX keeps float64 only if the dtype is given."""
    return mx.array(np.ascontiguousarray(x), dtype=FORMATS[x.dtype.name])


def _given(
    query: Array, key: Array, value: Array, attn_mask: Array | None, sinks: Array | None
) -> dict[str, mx.array]:
    """The arrays that are not None, by parameter name."""
    named = {"query": query, "key": key, "value": value, "attn_mask": attn_mask, "sinks": sinks}
    return {name: _array(x) for name, x in named.items() if x is not None}


def _called(is_causal: bool, scale: float | None, names: list[str]) -> Callable[..., mx.array]:
    """MLX's function of arrays with these names, in this order.

    Raises ValueError for a mask together with causality.
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
