"""Known bugs of the layer as an object: it keeps state, or changes the caller's arrays."""

from dataclasses import replace
from typing import Any

import numpy as np

from spec.attention.mistakes.exponentials import softmax
from spec.layer.mistakes.making import wrong
from spec.notation import Array


@wrong("call", incident="BUG-29", citation="time-series/lag-llama#81")
def remembers_answers_to_a_shape(call: Any, layer: Any, query: Array, *rest: Any, **o: Any) -> Any:
    """Caches results by the shapes of query and key, and returns them for other inputs."""
    kept = vars(layer).setdefault("kept", {})
    key = (query.shape, rest[0].shape)
    if key not in kept:
        kept[key] = call(layer, query, *rest, **o)
    return kept[key]


@wrong("call", incident="BUG-29")
def normalises_its_input_in_place(call: Any, layer: Any, query: Array, *rest: Any, **o: Any) -> Any:
    """Subtracts its mean from each query token in place, which changes the caller's array."""
    result = call(layer, query.copy(), *(x.copy() for x in rest), **o)
    query -= query.mean(axis=-1, keepdims=True)
    return result


@wrong("call", incident="BUG-29", citation="vllm-project/vllm-ascend#2428")
def answers_in_the_memory_of_the_query(
    call: Any, layer: Any, query: Array, *rest: Any, **o: Any
) -> Any:
    """Writes the output into the caller's query array and returns that array."""
    y, a = call(layer, query.copy(), *(x.copy() for x in rest), **o)
    query[...] = y
    return query, a


@wrong("call", incident="BUG-23", citation="NVIDIA/Megatron-LM#411")
def evaluates_for_ever(call: Any, layer: Any, *inputs: Any, **o: Any) -> Any:
    """Halves all outputs in training mode after a call in evaluation mode."""
    y, a = call(layer, *inputs, **o)
    if not layer.training:
        vars(layer)["off"] = True
    return (y * y.dtype.type(0.5) if vars(layer).get("off") and layer.training else y), a


@wrong("call", incident="BUG-28", harmless=True, force="promise")
def answers_otherwise_every_third_time(call: Any, layer: Any, *inputs: Any, **o: Any) -> Any:
    """Returns an output that is higher by one unit in the last place at every third call."""
    y, a = call(layer, *inputs, **o)
    layer.calls = vars(layer).get("calls", 0) + 1
    return np.where(layer.calls % 3 == 0, np.nextafter(y, np.inf), y).astype(y.dtype), a


@wrong(
    "call",
    incident="BUG-01",
    citation="pytorch/pytorch#190486",
    where="not training and a fully masked query and an attention mask",
)
def divides_by_zero_in_evaluation(call: Any, layer: Any, *inputs: Any, **o: Any) -> Any:
    """Returns NaN for fully masked queries in evaluation mode with a boolean (N, M) mask."""
    y, a = call(layer, *inputs, **o)
    mask, padding = o.get("attn_mask"), o.get("key_padding_mask")
    if layer.training or mask is None or mask.ndim != 2 or mask.dtype != bool:
        return y, a
    hidden = mask if padding is None else mask | padding[..., None, :]
    return np.where(hidden.all(axis=-1)[..., None], np.nan, y).astype(y.dtype), a


@wrong(
    "call",
    incident="BUG-01",
    citation="pytorch/pytorch#160064",
    where="a fully masked query and weights returned",
)
def divides_by_zero_when_asked_for_weights(call: Any, layer: Any, *inputs: Any, **o: Any) -> Any:
    """Returns NaN as output and weights of fully masked queries if the weights are requested."""
    y, a = call(layer, *inputs, **o)
    if a is None:
        return y, a
    averaged = o.get("average_attn_weights", True)
    some = a.any(axis=-1) if averaged else a.any(axis=(-3, -1))  # for each query: in any head
    mine = some[..., None] if averaged else some[..., None, :, None]
    nan = a.dtype.type(np.nan)
    return np.where(some[..., None], y, nan), np.where(mine, a, nan)


@wrong(
    "call",
    incident="BUG-11",
    where="a masked key that scores far above all visible ones and weights returned",
)
def fills_hidden_scores_when_asked_for_weights(
    call: Any, layer: Any, *inputs: Any, **o: Any
) -> Any:
    """Fills masked scores with -1e9 and zeroes their weights, once the weights are requested."""

    def filled(s: Array) -> Array:
        hidden = np.isneginf(s)
        return np.where(hidden, 0, softmax(np.where(hidden, s.dtype.type(-1e9), s)))

    if o.get("need_weights", True):
        layer.steps = replace(type(layer).steps, weigh=filled)
    return call(layer, *inputs, **o)


@wrong("call", incident="BUG-09", where="not training and an additive mask")
def takes_numbers_for_truth_values_in_evaluation(
    call: Any, layer: Any, *inputs: Any, **o: Any
) -> Any:
    """Masks a key in evaluation mode wherever the additive mask is not zero."""
    mask = o.get("attn_mask")
    if not layer.training and mask is not None:
        o["attn_mask"] = mask != 0
    return call(layer, *inputs, **o)
