"""OpenVINO's ScaledDotProductAttention on a CPU, under torch's spelling.

Arrays are (batch, heads, length, width). There is a model for each set of options, and none for a
shape. Beside causality a mask is handed on, which OpenVINO says is ignored; sinks are an input of
version 16 of the operator set. It is asked to compute in float32, which is its most; by `alone` on
one thread, where it treats errors otherwise.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from openvino import CompiledModel, Core, Model, PartialShape, Type
from openvino import opset16 as operators
from openvino.utils.node_factory import NodeFactory

from spec.notation import Array

MODELS = 64  # that are kept
SET = "opset16"
EXACT = {"INFERENCE_PRECISION_HINT": "f32"}
ALONE = {"INFERENCE_NUM_THREADS": 1}
NO_MASK = 0  # is said by a scalar where something comes behind it


def attend(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    sinks: Array | None = None,
) -> Array:
    """query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E).

    attn_mask broadcasts to (B, H, N, M); sinks: (H,). Raises whatever OpenVINO does.
    """
    return _run(query, key, value, attn_mask, is_causal, scale, sinks, several=True)


def alone(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    sinks: Array | None = None,
) -> Array:
    """The same on one thread."""
    return _run(query, key, value, attn_mask, is_causal, scale, sinks, several=False)


def _run(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None,
    is_causal: bool,
    scale: float | None,
    sinks: Array | None,
    *,
    several: bool,
) -> Array:
    """The output, on several threads or one."""
    D, dtype = query.shape[-1], query.dtype
    given: dict[str, Array] = {"query": query, "key": key, "value": value}
    if attn_mask is not None:
        given["mask"] = attn_mask.reshape((1,) * (4 - attn_mask.ndim) + attn_mask.shape)
    if scale is not None or sinks is not None:  # the sink comes behind the scale
        given["scale"] = np.array(1 / np.sqrt(D) if scale is None else scale, dtype)
    if sinks is not None:
        given["sink"] = sinks.reshape(1, -1, 1, 1)
    told = tuple((name, x.dtype, x.ndim) for name, x in given.items())
    found = _model(told, is_causal, several)([x.copy(order="C") for x in given.values()])
    return np.array(found[0])


@lru_cache(MODELS)
def _model(
    inputs: tuple[tuple[str, np.dtype[Any], int], ...], causal: bool, several: bool
) -> CompiledModel:
    """A model of one operator, for arrays of any shape."""
    first = Type(inputs[0][1])
    parameters = [
        operators.parameter(PartialShape([-1] * axes), dtype=Type(dtype), name=name)
        for name, dtype, axes in inputs
    ]
    arrays = [x.output(0) for x in parameters]
    names = [name for name, _, _ in inputs]
    if "scale" in names and "mask" not in names:
        arrays.insert(3, operators.constant(NO_MASK, dtype=first).output(0))
    factory = NodeFactory(SET)
    node = factory.create("ScaledDotProductAttention", arrays, {"causal": causal})
    asked = EXACT if several else EXACT | ALONE
    return Core().compile_model(Model([node.output(0)], parameters, "attention"), "CPU", asked)


# Its specification is a softmax of -inf alone, where every key of a query is hidden.
for _each in (attend, alone):
    _each.conventions = {"fully-masked": "nan"}  # type: ignore[attr-defined]
