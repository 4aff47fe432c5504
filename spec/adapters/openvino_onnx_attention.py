"""ONNX's Attention as OpenVINO reads it, on a CPU, with torch's argument names.

Arrays are (batch, heads, length, width). Options are attributes of a model, so that there is one
model for each combination of them. Its shapes are fixed, because shared heads require them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from onnx import helper
from openvino import CompiledModel, Core

from spec.notation import Array

VERSION, IR = 24, 10
MODELS = 64  # kept in the cache
EXACT = {"INFERENCE_PRECISION_HINT": "f32"}
INPUTS, OUTPUTS = ("Q", "K", "V", "mask"), ("Y",)
Told = tuple[tuple[str, np.dtype[Any], tuple[int | None, ...]], ...]
Asked = tuple[tuple[str, Any], ...]


def attend(
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

    attn_mask broadcasts to (B, H, N, M). Raises the exceptions of OpenVINO.
    """
    given = {"Q": query, "K": key, "V": value}
    if attn_mask is not None:  # ONNX masks the keys after a mask that is too short
        given["mask"] = np.broadcast_to(attn_mask, (*attn_mask.shape[:-1], key.shape[2]))
    asked = {"is_causal": int(is_causal), "scale": scale, "softcap": softcap}
    said = tuple((name, x) for name, x in asked.items() if x is not None)
    told = tuple((name, x.dtype, x.shape) for name, x in given.items())
    return run(given, model(told, said, INPUTS[: len(given)], OUTPUTS))[0]


def run(given: dict[str, Array], compiled: CompiledModel) -> list[Array]:
    """The outputs of a model, copied into new memory."""
    found = compiled({name: x.copy(order="C") for name, x in given.items()})
    return [np.array(found[i]) for i in range(len(compiled.outputs))]


@lru_cache(MODELS)
def model(
    inputs: Told, asked: Asked, places: tuple[str, ...], outputs: tuple[str, ...]
) -> CompiledModel:
    """A model of one operator, for arrays of these shapes; None stands for any length.

    places: the names of the operator's inputs, "" for an input that is left out.
    """

    def told(name: str, dtype: np.dtype[Any], shape: Any) -> Any:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), shape)

    node = helper.make_node("Attention", places, outputs, **dict(asked))
    returned = [told(name, inputs[0][1], [None] * 4) for name in outputs]
    graph = helper.make_graph([node], "attention", [told(*x) for x in inputs], returned)
    opsets = [helper.make_opsetid("", VERSION)]
    written = helper.make_model(graph, opset_imports=opsets, ir_version=IR).SerializeToString()
    core = Core()
    return core.compile_model(core.read_model(written), "CPU", EXACT)
