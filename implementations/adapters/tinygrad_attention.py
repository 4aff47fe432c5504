"""tinygrad's scaled dot product attention under torch's spelling, with the gradients of tinygrad.

Arrays are (batch, heads, length, width). It is a method of the queries there, and knows no scale.
It runs on whatever device `DEV` names to tinygrad; its own of Python needs no compiler.
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

    attn_mask broadcasts to (B, H, N, M). Raises RuntimeError: a mask beside causality.
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
    """The gradients of whatever holds numbers, by the names of the parameters."""
    given = {"query": _tensor(query), "key": _tensor(key), "value": _tensor(value)}
    mask = None if attn_mask is None else _tensor(attn_mask)
    q, k, v = given.values()
    if mask is not None and attn_mask is not None and attn_mask.dtype != bool:
        given["attn_mask"] = mask
    out = _called(q, k, v, mask, is_causal, enable_gqa)
    found = out.gradient(*given.values(), gradient=_tensor(dout))
    return {name: x.numpy() for name, x in zip(given, found, strict=True)}


def _tensor(x: Array) -> Tensor:
    """An array of NumPy's as one of tinygrad's."""
    return Tensor(np.ascontiguousarray(x))


def _called(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, is_causal: bool, enable_gqa: bool
) -> Tensor:
    """What tinygrad makes of it."""
    return q.scaled_dot_product_attention(
        k, v, attn_mask=mask, is_causal=is_causal, enable_gqa=enable_gqa
    )


# A row from which -inf hides every key is -inf - (-inf) in its softmax.
attend.conventions = {"fully-masked": "nan"}  # type: ignore[attr-defined]
attend.backward = backward  # type: ignore[attr-defined]
