"""ONNX's Attention with a past, in OpenVINO on a CPU: each call gets what the last one returned.

This is version 24 of the operator set. A model accepts arrays of any length, but has fixed heads
and widths, which shared heads require. A step may have fewer queries than keys: "query `i` attends
key `j` iff `j <= i + past_sequence_length`".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from openvino import CompiledModel

from spec.adapters.openvino_onnx_attention import model, run
from spec.notation import Array

INPUTS = ("query", "key", "value", "", "past_key", "past_value")
OUTPUTS = ("out", "present_key", "present_value")


class Standard:
    """Each call returns the keys and values of all tokens so far."""

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
        compiled: CompiledModel = model(told, (("is_causal", 1),), INPUTS, OUTPUTS)
        out, self.k, self.v = run(given, compiled)
        return out
