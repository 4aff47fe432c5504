"""ONNX's Attention by its reference evaluator, with torch's argument names.

Arrays are (batch, heads, length, width). The operator (version 25 of the standard operator set) has
its scale, soft-cap and window bounds as attributes of a model. There is therefore one model for
each combination of them, for arrays of any shape. Attributes are float32, whatever the dtype of the
arrays is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from onnx import helper
from onnx.reference import ReferenceEvaluator

from spec.attention.contents import UNBOUNDED, Window
from spec.notation import Array

VERSION = 25  # of the operator set, the first in which Attention has windows
SHOWN = 3  # the mode that returns the result of the softmax
MODELS = 64  # kept in the cache


def attend(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window_size: Window = UNBOUNDED,
    softcap: float | None = None,
) -> Array:
    """query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).

    attn_mask broadcasts to (B, H, N, M). Raises the exceptions of the evaluator.
    """
    return _run(query, key, value, attn_mask, is_causal, scale, enable_gqa, window_size, softcap)[0]


def weights(query: Array, key: Array, value: Array, **options: Any) -> Array:
    """The result of the softmax.   (B, H, N, M)"""
    return _run(query, key, value, **options)[1]


def _run(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - ONNX always shares key heads
    window_size: Window = UNBOUNDED,
    softcap: float | None = None,
) -> tuple[Array, Array]:
    """The output and the weights."""
    left, right = (-1 if bound is None else bound for bound in window_size)
    asked = {"is_causal": int(is_causal), "scale": scale, "softcap": softcap}
    asked |= {"left_window_size": left, "right_window_size": right}
    given = {"Q": query, "K": key, "V": value}
    if attn_mask is not None:  # ONNX masks the keys after a mask that is too short
        given["mask"] = np.broadcast_to(attn_mask, (*attn_mask.shape[:-1], key.shape[2]))
    formats = tuple((name, x.dtype) for name, x in given.items())
    said = tuple((name, x) for name, x in asked.items() if x is not None)
    o, a = _model(formats, said).run(None, given)
    return np.asarray(o), np.asarray(a)


@lru_cache(MODELS)
def _model(
    formats: tuple[tuple[str, np.dtype[Any]], ...], asked: tuple[tuple[str, Any], ...]
) -> ReferenceEvaluator:
    """A model of one operator, for arrays of any shape."""

    def told(name: str, dtype: np.dtype[Any]) -> Any:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), None)

    names, (_, first) = [name for name, _ in formats], formats[0]
    node = helper.make_node(
        "Attention", names, ["Y", "", "", "A"], qk_matmul_output_mode=SHOWN, **dict(asked)
    )
    outputs = [told("Y", first), told("A", first)]
    graph = helper.make_graph([node], "attention", [told(*x) for x in formats], outputs)
    opsets = [helper.make_opsetid("", VERSION)]
    return ReferenceEvaluator(helper.make_model(graph, opset_imports=opsets))


attend.weights = weights  # type: ignore[attr-defined]
