"""onnxruntime's operators for attention on a CPU (com.microsoft), with torch's argument names.

Arrays are (batch, length, heads, width); the operators have heads and width in one axis. For
`multi_head`, booleans are a padding mask (B, N, M), which is the same for all heads. An additive
mask is an attention bias, (1 or B, 1 or H, N, M). Without a cache, `grouped_query` requires as many
queries as keys. Its window includes the key at the query's position.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from onnx import helper
from onnxruntime import InferenceSession, SessionOptions

from spec.notation import Array

MODELS = 256  # kept in the cache
IR, VERSION, DOMAIN = 10, 21, "com.microsoft"
OUTPUTS = {"MultiHeadAttention": ("out",), "GroupQueryAttention": ("out", "keys", "values")}
INPUTS = {
    "MultiHeadAttention": ("query", "key", "value", "", "padding", "bias"),
    "GroupQueryAttention": (
        *("query", "key", "value", "", "", "last", "total", "", "", "", "bias", "sinks"),
    ),
}
Formats = tuple[tuple[str, np.dtype[Any]], ...]


def multi_head(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> Array:
    """query (B, N, H, D), key (B, M, H, D), value (B, M, H, E) give (B, N, H, E).

    attn_mask broadcasts to (B, H, N, M). Raises ValueError for a boolean mask that differs between
    heads, and the exceptions of onnxruntime.
    """
    (B, N, H, _), M = query.shape, key.shape[1]
    given = _joined(query, key, value)
    if attn_mask is not None and attn_mask.dtype == bool:
        whole = attn_mask.reshape((1,) * (4 - attn_mask.ndim) + attn_mask.shape)
        if whole.shape[1] != 1:
            raise ValueError("a padding mask is the same for all heads")
        given["padding"] = np.broadcast_to(whole[:, 0], (B, N, M)).astype(np.int32)
    elif attn_mask is not None:
        given["bias"] = _bias(attn_mask, N, M)
    asked = {"num_heads": H, "unidirectional": int(is_causal), "scale": scale}
    return _run("MultiHeadAttention", given, asked).reshape(B, N, H, value.shape[3])


def grouped_query(
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - key heads are always shared
    sliding_window: int | None = None,
    softcap: float | None = None,
    sinks: Array | None = None,
) -> Array:
    """query (B, N, H, D), key (B, N, G, D), value (B, N, G, D) give (B, N, H, D).

    bias broadcasts to (B, H, N, N); sinks: (H,). Raises the exceptions of onnxruntime.
    """
    (B, N, H, _), M = query.shape, key.shape[1]
    given = _joined(query, key, value)
    given["last"], given["total"] = np.full(B, M - 1, np.int32), np.array(M, np.int32)
    given |= {} if bias is None else {"bias": _bias(bias, N, M)}
    given |= {} if sinks is None else {"sinks": sinks}
    asked = {"num_heads": H, "kv_num_heads": key.shape[2], "causal": int(is_causal)}
    asked |= {"scale": scale, "softcap": softcap, "local_window_size": sliding_window}
    return _run("GroupQueryAttention", given, asked).reshape(B, N, H, value.shape[3])


def causal_query(
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    sliding_window: int | None = None,
    softcap: float | None = None,
    sinks: Array | None = None,
) -> Array:
    """As `grouped_query`, with causality (its default), and with windows, which require it."""
    return grouped_query(
        query, key, value, bias, True, scale, enable_gqa, sliding_window, softcap, sinks
    )


def _joined(query: Array, key: Array, value: Array) -> dict[str, Array]:
    """The arrays with heads and widths in one axis.   (B, length, width of all heads)"""
    named = {"query": query, "key": key, "value": value}
    return {name: x.reshape(*x.shape[:2], x.shape[2] * x.shape[3]) for name, x in named.items()}


def _bias(mask: Array, N: int, M: int) -> Array:
    """An additive mask with four axes, of which the last two are written out."""
    whole = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    return np.broadcast_to(whole, (*whole.shape[:2], N, M))


def _run(operator: str, given: dict[str, Array], asked: dict[str, Any]) -> Array:
    """The output of an operator."""
    formats = tuple((name, x.dtype) for name, x in given.items())
    said = tuple((name, x) for name, x in asked.items() if x is not None)
    arrays = {name: np.ascontiguousarray(x) for name, x in given.items()}
    return np.asarray(_session(operator, formats, said).run(["out"], arrays)[0])


@lru_cache(MODELS)
def _session(operator: str, formats: Formats, asked: tuple[tuple[str, Any], ...]) -> Any:
    """A model of one operator, for arrays of any length."""

    def told(name: str, dtype: np.dtype[Any]) -> Any:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), None)

    there, (_, first) = dict(formats), formats[0]
    names = [name if name in there else "" for name in INPUTS[operator]]
    found = OUTPUTS[operator]
    node = helper.make_node(operator, names, found, domain=DOMAIN, **dict(asked))
    outputs = [told(name, first) for name in found]
    graph = helper.make_graph([node], "attention", [told(*x) for x in formats], outputs)
    opsets = [helper.make_opsetid("", VERSION), helper.make_opsetid(DOMAIN, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR)
    settings = SessionOptions()
    settings.intra_op_num_threads = 1
    settings.log_severity_level = 4  # exceptions are raised in any case
    written = model.SerializeToString()
    return InferenceSession(written, settings, providers=["CPUExecutionProvider"])


# A boolean mask adds -10000 ("mask_filter_value"); a bias of -inf is added unchanged.
multi_head.conventions = {"fully-masked": "uniform", "fully-masked-bias": "nan"}  # type: ignore[attr-defined]
EQUAL = {"lengths": "equal", "fully-masked-bias": "nan"}
grouped_query.conventions = EQUAL  # type: ignore[attr-defined]
causal_query.conventions = EQUAL | {"causality": "always"}  # type: ignore[attr-defined]
