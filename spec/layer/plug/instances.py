"""A layer that is built already: each problem of its sizes is given to a copy of it.

The object says its sizes by attributes. Each copy gets the parameters of the problem, so that the
values it was built with or has learnt are not tested; buffers, say a table of positions, stay.
"""

import inspect
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from spec.backends.library import Elsewhere, Unsuitable
from spec.backends.results import WrongArray
from spec.boundary.far import asked, home_of
from spec.layer.axes import parts_of
from spec.layer.notation import LayerProblem
from spec.layer.record import BUILT_WITH, Capability
from spec.layer.state import Names
from spec.subject import Refused

WIDTH = ("embed_dim", "d_model", "n_embd", "hidden_size", "embed_size", "dim", "width")
HEADS = ("num_heads", "n_heads", "n_head", "nhead", "heads", "num_attention_heads")
OF_CLASSES = {Capability.WIDTHS, Capability.GROUPS}  # settled where it is built


def is_layer(found: Any) -> bool:
    """Whether `found` is a class, or an object with attributes for its width and heads."""
    return inspect.isclass(found) or bool(sizes_of(found))


def sizes_of(found: Any) -> dict[str, int]:
    """The width and the number of heads of an object, by attribute; empty for anything else."""
    if inspect.isclass(found) or inspect.isroutine(found):
        return {}
    if not callable(found) and not hasattr(found, "forward"):
        return {}
    first = [next((n for n in names if _number(found, n)), "") for names in (WIDTH, HEADS)]
    if not all(first):
        return {}
    A, H = (_number(found, name) for name in first)
    return dict(zip(first, (A, H), strict=True)) if A % H == 0 else {}


def _number(found: Any, name: str) -> int:
    x = getattr(found, name, None)
    return x if type(x) is int and x > 0 else 0


def usable(found: Any, sizes: Mapping[str, int]) -> None:
    """Raises Unsuitable: an object without sizes, or one that was built without batch_first."""
    name = "" if inspect.isclass(found) else class_of(found).__name__
    if not sizes:
        if name and hasattr(found, "forward"):
            how = f"give it attributes {WIDTH[0]} and {HEADS[0]}, or name the class {name}"
            raise Unsuitable(f"{name} is an object that does not say its sizes: {how}")
        return
    if getattr(found, "batch_first", True) is False:
        raise Unsuitable(f"{name} was built without batch_first: build it with batch_first=True")


def class_of(found: Any) -> Any:
    """The class of an object, in this process or elsewhere."""
    if isinstance(found, Elsewhere):
        return asked(home_of(found), "layer", of=found, how="class")
    return type(found)


def call_of(build: Any) -> Any:
    """The method of a class that a call of its objects is, in this process or elsewhere."""
    if isinstance(build, Elsewhere):
        return build.call
    return inspect.getattr_static(build, "__call__", None)


def called(layer: Any) -> Any:
    """The function that calls a layer: its `forward`, if its class has no `__call__`."""
    return layer if callable(layer) else layer.forward


def checked(layer: Any, build: Any) -> Any:
    """The layer that a description makes. Raises WrongArray: it is of another class."""
    if not isinstance(build, type) or not callable(layer):
        return layer
    made, wanted = class_of(layer).__name__, build.__name__
    if made != wanted and (isinstance(build, Elsewhere) or not isinstance(layer, build)):
        how = f"copy the description, and let its make build {wanted}"
        raise WrongArray(f"make of the description builds {made}, not {wanted}: {how}")
    return layer


def copied(found: Any, problem: LayerProblem) -> Any:
    """A copy of an object for a problem. Raises Refused if the problem has other sizes."""
    sizes = sizes_of(found)
    if [*sizes.values()] != [problem.A, problem.H]:
        raise Refused(f"it is built with {said(sizes)}")
    if isinstance(found, Elsewhere):
        return asked(home_of(found), "layer", of=found, how="copied")
    return deepcopy(found)


def said(sizes: Mapping[str, int]) -> str:
    """Sizes in words."""
    return ", ".join(f"{name}={x}" for name, x in sizes.items())


def answered(kinds: frozenset[str], state: Mapping[str, Any], names: Names) -> frozenset[str]:
    """The kinds of problem that an object can be given, of those that its class can.

    state: the parameters of the object. It has the biases that it was built with and no others.
    """
    there = {part for name, text in names.items() if name in state for part in parts_of(text)}
    biases = {kind for name, kind in BUILT_WITH.items() if name in there}
    others = kinds - OF_CLASSES - {*BUILT_WITH.values()} - {Capability.UNBIASED}
    return others | (biases or {Capability.UNBIASED})
