"""ONNX's Attention as onnxruntime runs it on a CPU, with torch's argument names.

Arrays are (batch, heads, length, width). Options are attributes of a model, so that there is one
model for each combination of them, for arrays of any shape. `attend_23`, `attend_24` and
`attend_25` are the versions of ONNX's operator set that changed the operator; the last one has
windows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from onnx import helper
from onnxruntime import InferenceSession, SessionOptions

from spec.attention.contents import UNBOUNDED, Window
from spec.notation import Array

SHOWN = 3  # the mode that returns the result of the softmax
MODELS = 256  # kept in the cache
IR = 11  # the file version that supports all of these operators
Formats = tuple[tuple[str, np.dtype[Any]], ...]


def attend_23(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - ONNX always shares key heads
    softcap: float | None = None,
) -> Array:
    """query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).

    attn_mask broadcasts to (B, H, N, M). Raises the exceptions of onnxruntime.
    """
    asked = {"is_causal": int(is_causal), "scale": scale, "softcap": softcap}
    return _run(23, query, key, value, attn_mask, asked)[0]


def attend_24(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - as above
    softcap: float | None = None,
) -> Array:
    """As `attend_23`, in version 24."""
    asked = {"is_causal": int(is_causal), "scale": scale, "softcap": softcap}
    return _run(24, query, key, value, attn_mask, asked)[0]


def attend_25(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - as above
    window_size: Window = UNBOUNDED,
    softcap: float | None = None,
) -> Array:
    """As `attend_23`, in version 25, which has windows."""
    left, right = (-1 if bound is None else bound for bound in window_size)
    asked = {"is_causal": int(is_causal), "scale": scale, "softcap": softcap}
    asked |= {"left_window_size": left, "right_window_size": right}
    return _run(25, query, key, value, attn_mask, asked)[0]


def _weights(version: int) -> Callable[..., Array]:
    """The function that returns the result of the softmax in this version.   (B, H, N, M)"""

    def weights(
        query: Array,
        key: Array,
        value: Array,
        attn_mask: Array | None = None,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,  # noqa: ARG001 - as above
        window_size: Window = UNBOUNDED,
        softcap: float | None = None,
    ) -> Array:
        asked: dict[str, Any] = {"is_causal": int(is_causal), "scale": scale, "softcap": softcap}
        if window_size != UNBOUNDED:
            left, right = (-1 if bound is None else bound for bound in window_size)
            asked |= {"left_window_size": left, "right_window_size": right}
        asked["qk_matmul_output_mode"] = SHOWN
        return _run(version, query, key, value, attn_mask, asked)[1]

    return weights


def _run(
    version: int,
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None,
    asked: dict[str, Any],
) -> list[Array]:
    """The output, and the weights if they are requested."""
    given = {"Q": query, "K": key, "V": value}
    if attn_mask is not None:  # ONNX masks the keys after a mask that is too short
        given["mask"] = np.broadcast_to(attn_mask, (*attn_mask.shape[:-1], key.shape[2]))
    formats = tuple((name, x.dtype) for name, x in given.items())
    said = tuple((name, x) for name, x in asked.items() if x is not None)
    arrays = {name: np.ascontiguousarray(x) for name, x in given.items()}
    return [np.asarray(x) for x in _session(version, formats, said).run(None, arrays)]


@lru_cache(MODELS)
def _session(version: int, formats: Formats, asked: tuple[tuple[str, Any], ...]) -> Any:
    """A model of one operator, for arrays of any shape."""

    def told(name: str, dtype: np.dtype[Any]) -> Any:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), None)

    names, (_, first) = [name for name, _ in formats], formats[0]
    shown = "qk_matmul_output_mode" in dict(asked)
    found = ["Y", "", "", "A"] if shown else ["Y"]
    node = helper.make_node("Attention", names, found, **dict(asked))
    outputs = [told(name, first) for name in found if name]
    graph = helper.make_graph([node], "attention", [told(*x) for x in formats], outputs)
    opsets = [helper.make_opsetid("", version)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR)
    settings = SessionOptions()
    settings.intra_op_num_threads = 1
    settings.log_severity_level = 4  # exceptions are raised in any case
    written = model.SerializeToString()
    return InferenceSession(written, settings, providers=["CPUExecutionProvider"])


attend_23.weights = _weights(23)  # type: ignore[attr-defined]
attend_24.weights = _weights(24)  # type: ignore[attr-defined]
attend_25.weights = _weights(25)  # type: ignore[attr-defined]
