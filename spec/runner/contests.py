"""Programs in the forms of contests, as attention functions; nothing else of a target is changed.

KernelBench      a class `ModelNew` (or `Model`) in a file with `get_init_inputs`: its forward pass
GPU MODE         a function `custom_kernel` of one tuple: called with (query, key, value)
FlashInfer-Bench a function whose definition is in its folder, as `DEFINITION`: called as that says

A definition may fix numbers of heads and head sizes. Each head is computed by itself, and zeros
behind a query and a key add nothing to a score: so any problem that fits is filled up with zeros,
and heads that do not fit at once are computed one call after the other.
"""

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from .errors import Absent

DEFINITION = "flashinfer_bench.json"  # {"definition": ..., "spec": ...}, as in their files
LIBRARY = "torch"
KERNEL, TASK = "custom_kernel", "task"
MODELS = ("ModelNew", "Model")
OURS = ("query", "key", "value")
STARTS = {"qo_indptr": "cu_seqlens_q", "kv_indptr": "cu_seqlens_k"}
SCALES = ("sm_scale", "scale")


def ready(name: str, folder: str) -> None:
    """Stand in for the module of types that a `custom_kernel` imports, if it is not there."""
    if name == KERNEL and not os.path.exists(os.path.join(folder, f"{TASK}.py")):
        types = ModuleType(TASK)
        vars(types).update(input_t=tuple, output_t=Any, TestSpec=dict)
        sys.modules.setdefault(TASK, types)


def in_a_form(name: str, folder: str) -> bool:
    """Whether a target may have the form of a contest, by its name and its folder."""
    return name in (KERNEL, *MODELS) or os.path.exists(os.path.join(folder, DEFINITION))


def adapted(one: Any, name: str, beside: Mapping[str, Any], folder: str) -> Any:
    """A target as an attention function, if it has the form of a contest; else itself."""
    if isinstance(one, type) and name in MODELS and "get_init_inputs" in beside:
        return _of_model(one, beside["get_init_inputs"])
    if name == KERNEL and inspect.isroutine(one):
        return _named(lambda query, key, value: one((query, key, value)), one, OURS)
    path = os.path.join(folder, DEFINITION)
    if callable(one) and os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
        if told["spec"]["entry_point"].rpartition("::")[2] == name:
            return _of_definition(one, told["definition"], told["spec"])
    return one


def _named(
    function: Callable[..., Any], one: Any, names: Sequence[str], more: Sequence[Any] = ()
) -> Any:
    """A function that is called and named like a target, with these parameters."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(x, kind) for x in names]
    function.__name__ = function.__qualname__ = one.__name__
    function.__module__ = one.__module__
    function.__wrapped__ = one  # type: ignore[attr-defined]
    function.__signature__ = inspect.Signature([*parameters, *more])  # type: ignore[attr-defined]
    return function


def _of_model(model: Any, init: Callable[[], Any]) -> Any:
    """The forward pass of a model that is made once, as its file makes it."""
    made: list[Any] = []

    def attend(*places: Any, **words: Any) -> Any:
        if not made:
            made.append(model(*init()))
        return made[0](*places, **words)

    _, *parameters = inspect.signature(model.forward).parameters.values()  # without itself
    return _named(attend, model, OURS, parameters[len(OURS) :])


def _of_definition(run: Any, definition: Mapping[str, Any], how: Mapping[str, Any]) -> Any:
    """The entry point of a solution, which is called as its definition says."""
    inputs = definition["inputs"]
    unknown = {*inputs} - {"q", "k", "v", *STARTS, *SCALES}
    if unknown or not {"q", "k", "v"} <= {*inputs}:
        what = f"has the inputs {', '.join(inputs)}"
        raise Absent(f"the definition {definition['name']} {what}, which cannot be tested")
    starts = [STARTS[x] for x in inputs if x in STARTS]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    scaled = any(x in inputs for x in SCALES)
    scale = [inspect.Parameter("scale", kind, default=None)] * scaled

    def attend(*places: Any, **words: Any) -> Any:
        given = dict(zip((*OURS, *starts, *(["scale"] * scaled)), places, strict=False)) | words
        return _by_heads(run, definition, how, given)

    return _named(attend, run, (*OURS, *starts), scale)


def _by_heads(
    run: Any, definition: Mapping[str, Any], how: Mapping[str, Any], given: Mapping[str, Any]
) -> Any:
    """The output for any heads, from as many calls as the fixed numbers of heads take."""
    q, k, v = (given[name] for name in OURS)
    fixed = {name: _fixed(definition, name) for name in "qkv"}
    heads, keys = fixed["q"][0] or q.shape[-2], fixed["k"][0] or k.shape[-2]
    slots = [*_slots(q.shape[-2], k.shape[-2], heads // keys)]
    output = q.new_empty((*q.shape[:-1], v.shape[-1]))
    scale = q.shape[-1] ** -0.5 if given.get("scale") is None else given["scale"]
    for begin in range(0, len(slots), keys):
        some = slots[begin : begin + keys]
        arrays = {"q": _filled(q, heads, fixed["q"][1]), "k": _filled(k, keys, fixed["k"][1])}
        arrays["v"] = _filled(v, keys, fixed["v"][1])
        for slot, (head, mine) in enumerate(some):
            arrays["k"][..., slot, : k.shape[-1]] = k[..., head, :]
            arrays["v"][..., slot, : v.shape[-1]] = v[..., head, :]
            for place, query in enumerate(mine, start=slot * (heads // keys)):
                arrays["q"][..., place, : q.shape[-1]] = q[..., query, :]
        known = {ours: given[theirs].int() for ours, theirs in STARTS.items() if theirs in given}
        found = _called(run, definition, how, {**arrays, **known, **dict.fromkeys(SCALES, scale)})
        for slot, (_, mine) in enumerate(some):
            for place, query in enumerate(mine, start=slot * (heads // keys)):
                output[..., query, :] = found[..., place, : v.shape[-1]]
    return output


def _fixed(definition: Mapping[str, Any], name: str) -> list[int | None]:
    """The number of heads and the head size of an input; None for one that may vary."""
    axes = definition["axes"]
    return [axes[x].get("value") for x in definition["inputs"][name]["shape"][-2:]]


def _slots(heads: int, keys: int, most: int) -> Iterator[tuple[int, list[int]]]:
    """Yield a head of keys, and at most so many heads of queries that share it."""
    group = heads // keys if keys else 0
    for key in range(keys):
        for begin in range(key * group, (key + 1) * group, most):
            yield key, [*range(begin, min(begin + most, (key + 1) * group))]


def _filled(x: Any, heads: int, width: int | None) -> Any:
    """Zeros in the place of an array, of fixed heads and width. Raises NotImplementedError."""
    if width is not None and x.shape[-1] > width:
        raise NotImplementedError(f"the definition has a head size of {width}")
    return x.new_zeros((*x.shape[:-2], heads, width or x.shape[-1]))


def _called(
    run: Any, definition: Mapping[str, Any], how: Mapping[str, Any], given: Mapping[str, Any]
) -> Any:
    """The first output of one call."""
    torch, sizes = sys.modules[LIBRARY], dict[str, int]()
    for name, told in definition["inputs"].items():
        sizes |= dict(zip(told["shape"] or (), getattr(given[name], "shape", ()), strict=False))
    places = [given[name] for name in definition["inputs"]]
    if not how.get("destination_passing_style", True):
        found = run(*places)
        found = [*found.values()] if isinstance(found, dict) else found
        return found[0] if isinstance(found, tuple | list) else found
    outputs = list[Any]()
    for told in definition["outputs"].values():
        kind = getattr(torch, told["dtype"]) if outputs else given["q"].dtype
        shape = [sizes.get(x, definition["axes"][x].get("value")) for x in told["shape"]]
        outputs.append(given["q"].new_empty(shape, dtype=kind))
    run(*places, *outputs)
    return outputs[0]
