"""ONNX's Attention as OpenVINO reads it, on a CPU, under torch's spelling.

Arrays are (batch, heads, length, width). Options are attributes of a model, so that there is one
for each of them; its shapes are given, since heads that are shared need them.
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
    enable_gqa: bool = False,  # noqa: ARG001 - ONNX shares key heads without being asked
    softcap: float | None = None,
) -> Array:
    """query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).

    attn_mask broadcasts to (B, H, N, M). Raises whatever OpenVINO does.
    """
    given = {"Q": query, "K": key, "V": value}
    if attn_mask is not None:  # of one whose last axis is shorter, the rest is hidden
        given["mask"] = np.broadcast_to(attn_mask, (*attn_mask.shape[:-1], key.shape[2]))
    asked = {"is_causal": int(is_causal), "scale": scale, "softcap": softcap}
    said = tuple((name, x) for name, x in asked.items() if x is not None)
    told = tuple((name, x.dtype, x.shape) for name, x in given.items())
    return run(given, model(told, said, INPUTS[: len(given)], OUTPUTS))[0]


def run(given: dict[str, Array], compiled: CompiledModel) -> list[Array]:
    """What a model returns, in memory of its own."""
    found = compiled({name: x.copy(order="C") for name, x in given.items()})
    return [np.array(found[i]) for i in range(len(compiled.outputs))]


@lru_cache(MODELS)
def model(
    inputs: Told, asked: Asked, places: tuple[str, ...], outputs: tuple[str, ...]
) -> CompiledModel:
    """A model of one operator, for arrays of these shapes, of which None is any length.

    places: what the operator reads, "" where it is given nothing
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
