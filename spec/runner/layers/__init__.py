"""Layers in a runner: how each library makes, loads and differentiates one."""

import importlib
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from .paths import arrays
from .rates import rates


def done(library: str, how: str, given: Mapping[str, Any]) -> Any:
    """The result of what is done with a layer, `of`, and with other objects by their names."""
    layer = given["of"]
    match how:
        case "rates":
            return [*rates(layer)]
        case "arrays":
            return [*arrays(layer)]
        case "copied":
            return deepcopy(layer)
        case "class":
            return type(layer)
        case "train":
            return train(layer, given["training"])
    functions = importlib.import_module(f"{__name__}.for_{library}")
    if how == "moved":
        layer = functions.moved(layer, given["dtype"], given["device"])
        return layer, functions.state(layer, given["names"])
    others = {name: x for name, x in given.items() if name != "of"}
    return getattr(functions, how)(layer, **others)


def train(layer: Any, training: bool) -> None:
    """Have the layer run as in training, or as in evaluation, if it knows them apart."""
    if hasattr(layer, "train"):
        layer.train(training)


def evaluated(text: str, space: dict[str, Any]) -> Any:
    """The value of an expression of a description, among names."""
    return eval(text, space)
