"""Caches for decoding with onnxruntime on a CPU: each call receives what the last one returned.

`Standard` is ONNX's Attention (version 24) with past keys and values, which grow with each call.
There may be fewer queries than new keys: "query `i` attends key `j` iff `j <= i +
past_sequence_length`". `MultiHead` and `Grouped` are operators of onnxruntime. `Grouped` keeps
arrays that are longer than the sequences. It receives the lengths of the sequences, and of each
chunk.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from onnx import helper
from onnxruntime import InferenceSession, SessionOptions

from spec.notation import Array

MODELS = 256  # kept in the cache
IR, VERSION, OWN = 10, 24, "com.microsoft"
OPERATORS = {
    "Attention": ("", ("query", "key", "value", "", "past_key", "past_value")),
    "MultiHeadAttention": (
        *(OWN, ("query", "key", "value", "", "", "", "past_key", "past_value")),
    ),
    "GroupQueryAttention": (
        OWN,
        (
            *("query", "key", "value", "past_key", "past_value", "last", "total"),
            *("", "", "", "", "", "", "", "", "", "counts"),
        ),
    ),
}
OUTPUTS = ("out", "present_key", "present_value")
Formats = tuple[tuple[str, np.dtype[Any]], ...]


class Standard:
    """ONNX's Attention: each call returns the keys and values of all tokens so far."""

    fewer_queries = True

    def __init__(
        self, batch: int, key_heads: int, width: int, value_width: int, dtype: np.dtype[Any]
    ) -> None:
        self.k = np.zeros((batch, key_heads, 0, width), dtype)
        self.v = np.zeros((batch, key_heads, 0, value_width), dtype)

    def extend(self, query: Array, key: Array, value: Array) -> Array:
        """query (B, H, m, D), key (B, G, n, D), value (B, G, n, E) give (B, H, m, E)."""
        given = {"query": query, "key": key, "value": value}
        given |= {"past_key": self.k, "past_value": self.v}
        out, self.k, self.v = _run("Attention", given, {"is_causal": 1})
        return out


class MultiHead:
    """onnxruntime's MultiHeadAttention, with as many key heads as query heads."""

    def __init__(
        self, batch: int, key_heads: int, width: int, value_width: int, dtype: np.dtype[Any]
    ) -> None:
        self.k = np.zeros((batch, key_heads, 0, width), dtype)
        self.v = np.zeros((batch, key_heads, 0, value_width), dtype)

    def extend(self, query: Array, key: Array, value: Array) -> Array:
        """query (B, H, n, D), key (B, H, n, D), value (B, H, n, E) give (B, H, n, E)."""
        given = {"query": _flat(query), "key": _flat(key), "value": _flat(value)}
        given |= {"past_key": self.k, "past_value": self.v}
        asked = {"num_heads": query.shape[1], "unidirectional": 1}
        out, self.k, self.v = _run("MultiHeadAttention", given, asked)
        return _headed(out, query.shape[1])


class Grouped:
    """onnxruntime's GroupQueryAttention, in arrays with room for `capacity` positions."""

    def __init__(
        self,
        batch: int,
        key_heads: int,
        capacity: int,
        width: int,
        value_width: int,
        dtype: np.dtype[Any],
    ) -> None:
        self.k = np.zeros((batch, key_heads, capacity, width), dtype)
        self.v = np.zeros((batch, key_heads, capacity, value_width), dtype)
        self.lengths = np.zeros(batch, np.int32)

    def extend(self, query: Array, key: Array, value: Array, counts: Array | None = None) -> Array:
        """query (B, H, n, D), key (B, G, n, D), value (B, G, n, D) give (B, H, n, D).

        counts: how many of the n tokens belong to each sequence; the others are padding.   (B,)
        """
        (B, H, n, _), G, room = query.shape, key.shape[1], self.k.shape[2]
        each = np.full(B, n, np.int32) if counts is None else counts.astype(np.int32)
        given = {"query": _flat(query), "key": _flat(key), "value": _flat(value)}
        given |= {"past_key": self.k, "past_value": self.v, "counts": each}
        given["last"] = self.lengths + each - 1
        given["total"] = np.array(room, np.int32)
        asked = {"num_heads": H, "kv_num_heads": G}
        out, self.k, self.v = _run("GroupQueryAttention", given, asked)
        self.lengths = self.lengths + each
        return _headed(out, H)

    def rollback(self, lengths: int | Array) -> None:
        """Keep only the first `lengths` tokens of each sequence."""
        self.lengths = np.zeros_like(self.lengths) + np.asarray(lengths, np.int32)


def _flat(x: Array) -> Array:
    """(B, H, n, D) to (B, n, H D)."""
    B, H, n, D = x.shape
    return x.swapaxes(1, 2).reshape(B, n, H * D)


def _headed(x: Array, H: int) -> Array:
    """(B, n, H D) to (B, H, n, D)."""
    B, n, width = x.shape
    return x.reshape(B, n, H, width // H).swapaxes(1, 2)


def _run(operator: str, given: dict[str, Array], asked: dict[str, Any]) -> list[Array]:
    """The output, and the keys and values of all tokens so far."""
    formats = tuple((name, x.dtype) for name, x in given.items())
    arrays = {name: x.copy(order="C") for name, x in given.items()}
    return [
        np.asarray(x) for x in _session(operator, formats, tuple(asked.items())).run(None, arrays)
    ]


@lru_cache(MODELS)
def _session(operator: str, formats: Formats, asked: tuple[tuple[str, Any], ...]) -> Any:
    """A model of one operator, for arrays of any length."""

    def told(name: str, dtype: np.dtype[Any]) -> Any:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), None)

    domain, inputs = OPERATORS[operator]
    names = [name if name in dict(formats) else "" for name in inputs]
    node = helper.make_node(operator, names, OUTPUTS, domain=domain, **dict(asked))
    outputs = [told(name, formats[0][1]) for name in OUTPUTS]
    graph = helper.make_graph([node], "attention", [told(*x) for x in formats], outputs)
    opsets = [helper.make_opsetid("", VERSION), helper.make_opsetid(OWN, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR)
    settings = SessionOptions()
    settings.intra_op_num_threads = 1
    settings.log_severity_level = 4  # exceptions are raised in any case
    written = model.SerializeToString()
    return InferenceSession(written, settings, providers=["CPUExecutionProvider"])
