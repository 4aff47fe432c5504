"""ONNX's Attention with a past as OpenVINO reads it, on a CPU: what it returns, it is given.

Version 24 of the operator set. A model is made for arrays of any length, and of given heads and
widths, as heads that are shared need them. A step may have fewer queries than keys: "query `i`
attends key `j` iff `j <= i + past_sequence_length`".
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from onnx import helper
from openvino import CompiledModel, Core

from spec.notation import Array

VERSION, IR = 24, 10
MODELS = 64  # that are kept
EXACT = {"INFERENCE_PRECISION_HINT": "f32"}
INPUTS = ("query", "key", "value", "", "past_key", "past_value")
OUTPUTS = ("out", "present_key", "present_value")
Told = tuple[tuple[str, np.dtype[Any], tuple[int | None, ...]], ...]


class Standard:
    """Keys and values of all tokens so far come back from each call."""

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
        told = tuple((name, x.dtype, (*x.shape[:2], None, x.shape[3])) for name, x in given.items())
        found = _model(told)({name: x.copy(order="C") for name, x in given.items()})
        out, self.k, self.v = (np.array(found[i]) for i in range(len(OUTPUTS)))
        return out


@lru_cache(MODELS)
def _model(inputs: Told) -> CompiledModel:
    """A model of one operator, for arrays of these batches, heads and widths."""

    def told(name: str, dtype: np.dtype[Any], shape: Any) -> Any:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), shape)

    node = helper.make_node("Attention", INPUTS, OUTPUTS, is_causal=1)
    outputs = [told(name, inputs[0][1], [None] * 4) for name in OUTPUTS]
    graph = helper.make_graph([node], "attention", [told(*x) for x in inputs], outputs)
    opsets = [helper.make_opsetid("", VERSION)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR)
    core = Core()
    return core.compile_model(core.read_model(model.SerializeToString()), "CPU", EXACT)
