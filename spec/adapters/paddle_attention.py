"""Paddle's attention with torch's argument names, and with the gradients of Paddle.

`attend` and `flash` have arrays (batch, length, heads, width), as in Paddle. `compatible`, from
Paddle's module for users of torch, has heads first. On a CPU all three end in what Paddle calls the
math path. With causality the adapter still passes the mask.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import paddle
from paddle import Tensor
from paddle.compat.nn.functional import scaled_dot_product_attention as of_torch
from paddle.nn.functional import scaled_dot_product_attention
from paddle.nn.functional.flash_attention import flash_attention

from spec.notation import Array

paddle.set_device("cpu")
Called = Callable[..., Tensor]


def attend(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Array:
    """query (B, N, H, D), key (B, M, G, D), value (B, M, G, E) give (B, N, H, E).

    attn_mask broadcasts to (B, H, N, M). Raises the exceptions of Paddle.
    """
    asked = {"is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
    return _run(scaled_dot_product_attention, query, key, value, attn_mask, asked)


def compatible(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Array:
    """query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).

    attn_mask broadcasts to (B, H, N, M). Raises RuntimeError for a mask together with causality.
    """
    asked = {"is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
    return _run(of_torch, query, key, value, attn_mask, asked)


def flash(
    query: Array, key: Array, value: Array, causal: bool = False, softmax_scale: float | None = None
) -> Array:
    """query (B, N, H, D), key (B, M, H, D), value (B, M, H, E) give (B, N, H, E)."""
    return _run(
        _output, query, key, value, None, {"causal": causal, "softmax_scale": softmax_scale}
    )


def weights(
    query: Array, key: Array, value: Array, causal: bool = False, softmax_scale: float | None = None
) -> Array:
    """The softmax that `flash` returns.   (B, H, N, M)"""
    q, k, v = (_tensor(x) for x in (query, key, value))
    asked = {"causal": causal, "softmax_scale": softmax_scale}
    _, found = flash_attention(q, k, v, return_softmax=True, **asked)
    assert found is not None
    return found.numpy()


def _output(q: Tensor, k: Tensor, v: Tensor, **asked: Any) -> Tensor:
    """The first result of Paddle's flash attention."""
    return flash_attention(q, k, v, **asked)[0]


def _tensor(x: Array) -> Tensor:
    """A NumPy array as a Paddle tensor."""
    return paddle.to_tensor(np.ascontiguousarray(x))


def _run(
    called: Called,
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None,
    asked: Mapping[str, Any],
) -> Array:
    """The output of `called`."""
    q, k, v = (_tensor(x) for x in (query, key, value))
    masked = {} if attn_mask is None else {"attn_mask": _tensor(attn_mask)}
    return called(q, k, v, **masked, **asked).numpy()


def flash_backward(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    causal: bool = False,
    softmax_scale: float | None = None,
) -> Mapping[str, Array]:
    """The gradients of `flash`, by parameter name."""
    asked = {"causal": causal, "softmax_scale": softmax_scale}
    return _differentiated(_output, dout, query, key, value, None, asked)


def _backward(called: Called) -> Callable[..., Mapping[str, Array]]:
    """The function that returns the gradients of `called`, by the adapter's parameter names."""

    def backward(
        dout: Array,
        query: Array,
        key: Array,
        value: Array,
        attn_mask: Array | None = None,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Mapping[str, Array]:
        asked = {"is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
        return _differentiated(called, dout, query, key, value, attn_mask, asked)

    return backward


def _differentiated(
    called: Called,
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None,
    asked: Mapping[str, Any],
) -> Mapping[str, Array]:
    """The gradients of `called` with respect to all arrays of numbers."""
    named = {"query": query, "key": key, "value": value}
    masked = {} if attn_mask is None else {"attn_mask": _tensor(attn_mask)}
    given = {name: _tensor(x) for name, x in named.items()}
    wanted = given | {name: x for name, x in masked.items() if x.dtype != paddle.bool}
    for x in wanted.values():
        x.stop_gradient = False
    out = called(*given.values(), **masked, **asked)
    found = paddle.grad(out, [*wanted.values()], _tensor(dout))
    return {name: x.numpy() for name, x in zip(wanted, found, strict=True)}


# Masks add -inf, so that the softmax of a fully masked row is NaN.
attend.conventions = {"fully-masked": "nan"}  # type: ignore[attr-defined]
compatible.conventions = {"fully-masked": "nan"}  # type: ignore[attr-defined]
flash.conventions = {"fully-masked": "nan"}  # type: ignore[attr-defined]
attend.backward = _backward(scaled_dot_product_attention)  # type: ignore[attr-defined]
compatible.backward = _backward(of_torch)  # type: ignore[attr-defined]
flash.backward = flash_backward  # type: ignore[attr-defined]
flash.weights = weights  # type: ignore[attr-defined]
