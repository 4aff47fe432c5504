"""com.microsoft Attention of onnxruntime on a CPU, followed by a matrix product and a sum.

The operator's weights have their inputs first, (A, 3 A) and (A, A); the adapter transposes them. A
mask has one number for each key, 1 if it is visible. Causality is an attribute. There are no
gradients.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from onnx import helper
from onnxruntime import InferenceSession, SessionOptions

from spec.notation import Array

MODELS = 64  # kept in the cache
IR, VERSION, DOMAIN = 10, 21, "com.microsoft"
Formats = tuple[tuple[str, np.dtype[Any]], ...]


class SelfAttention:
    """The operator and its parameters; raises the exceptions of onnxruntime."""

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        self.heads = num_heads
        A = embed_dim
        shapes = {"weights": (3 * A, A), "bias": (3 * A,), "last": (A, A), "last_bias": (A,)}
        self.state = {name: np.zeros(shape) for name, shape in shapes.items()}

    def state_dict(self) -> dict[str, Array]:
        """The parameters, with their outputs first."""
        return dict(self.state)

    def load_state_dict(self, state: Mapping[str, Array]) -> None:
        """Set the parameters."""
        self.state = dict(state)

    def __call__(self, x: Array, mask: Array | None = None, is_causal: bool = False) -> Array:
        """y (B, N, A) for x (B, N, A). mask: (B, N), True is visible."""
        turned = {name: a.T for name, a in self.state.items()}
        given = {"input": x, "weights": turned["weights"], "bias": turned["bias"]}
        given |= {} if mask is None else {"mask": mask.astype(np.int32)}
        given |= {"last": turned["last"], "last_bias": turned["last_bias"]}
        formats = tuple((name, a.dtype) for name, a in given.items())
        arrays = {name: a.copy(order="C") for name, a in given.items()}
        session = _session(self.heads, is_causal, formats)
        return np.asarray(session.run(None, arrays)[0])


@lru_cache(MODELS)
def _session(heads: int, is_causal: bool, formats: Formats) -> Any:
    """A model of the operator, for arrays of any length."""

    def told(name: str, dtype: np.dtype[Any]) -> Any:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), None)

    first = [name for name, _ in formats if not name.startswith("last")]
    asked = {"num_heads": heads, "unidirectional": int(is_causal)}
    nodes = [
        helper.make_node("Attention", first, ["heads"], domain=DOMAIN, **asked),
        helper.make_node("MatMul", ["heads", "last"], ["product"]),
        helper.make_node("Add", ["product", "last_bias"], ["out"]),
    ]
    outputs = [told("out", formats[0][1])]
    graph = helper.make_graph(nodes, "attention", [told(*x) for x in formats], outputs)
    opsets = [helper.make_opsetid("", VERSION), helper.make_opsetid(DOMAIN, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR)
    settings = SessionOptions()
    settings.intra_op_num_threads = 1
    settings.log_severity_level = 4  # exceptions are raised in any case
    written = model.SerializeToString()
    return InferenceSession(written, settings, providers=["CPUExecutionProvider"])


# A mask adds -10000 to masked scores.
SelfAttention.conventions = {"fully-masked": "uniform"}  # type: ignore[attr-defined]
