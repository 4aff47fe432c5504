"""OpenVINO's ScaledDotProductAttention on a CPU, with torch's argument names.

Arrays are (batch, heads, length, width). There is one model for each set of options, for arrays of
any shape. With causality the adapter still passes the mask, which OpenVINO documents as ignored.
Attention sinks are an input in version 16 of the operator set. The precision is set to float32, the
highest that OpenVINO has. `alone` uses one thread, where OpenVINO handles errors differently.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from openvino import CompiledModel, Core, Model, PartialShape, Type
from openvino import opset16 as operators
from openvino.utils.node_factory import NodeFactory

from spec.notation import Array

MODELS = 64  # kept in the cache
SET = "opset16"
EXACT = {"INFERENCE_PRECISION_HINT": "f32"}
ALONE = {"INFERENCE_NUM_THREADS": 1}
NO_MASK = 0  # a scalar stands for no mask if other inputs follow


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

    attn_mask broadcasts to (B, H, N, M); sinks: (H,). Raises the exceptions of OpenVINO.
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
    """As `attend`, on one thread."""
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
    if scale is not None or sinks is not None:  # the sink is the input after the scale
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


# For a fully masked query, its specification is a softmax of only -inf.
for _each in (attend, alone):
    _each.conventions = {"fully-masked": "nan"}  # type: ignore[attr-defined]
