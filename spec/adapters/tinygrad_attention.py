"""tinygrad's scaled dot product attention with torch's argument names and tinygrad's gradients.

Arrays are (batch, heads, length, width). In tinygrad it is a method of the queries, and has no
scale. It runs on the device that `DEV` names; DEV=PYTHON needs no compiler.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from tinygrad import Tensor

from spec.notation import Array


def attend(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    enable_gqa: bool = False,
) -> Array:
    """query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).

    attn_mask broadcasts to (B, H, N, M). Raises RuntimeError for a mask together with causality.
    """
    q, k, v = (_tensor(x) for x in (query, key, value))
    mask = None if attn_mask is None else _tensor(attn_mask)
    return _called(q, k, v, mask, is_causal, enable_gqa).numpy()


def backward(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    enable_gqa: bool = False,
) -> Mapping[str, Array]:
    """The gradients of all arrays of numbers, by parameter name."""
    given = {"query": _tensor(query), "key": _tensor(key), "value": _tensor(value)}
    mask = None if attn_mask is None else _tensor(attn_mask)
    q, k, v = given.values()
    if mask is not None and attn_mask is not None and attn_mask.dtype != bool:
        given["attn_mask"] = mask
    out = _called(q, k, v, mask, is_causal, enable_gqa)
    found = out.gradient(*given.values(), gradient=_tensor(dout))
    return {name: x.numpy() for name, x in zip(given, found, strict=True)}


def _tensor(x: Array) -> Tensor:
    """A NumPy array as a tinygrad tensor."""
    return Tensor(np.ascontiguousarray(x))


def _called(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, is_causal: bool, enable_gqa: bool
) -> Tensor:
    """The output as a tinygrad tensor."""
    return q.scaled_dot_product_attention(
        k, v, attn_mask=mask, is_causal=is_causal, enable_gqa=enable_gqa
    )


# The softmax of a row that -inf fully masks computes -inf - (-inf).
attend.conventions = {"fully-masked": "nan"}  # type: ignore[attr-defined]
attend.backward = backward  # type: ignore[attr-defined]
