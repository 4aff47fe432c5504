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
    functions = importlib.import_module(f"{__name__}.for_{library}")
    others = {name: x for name, x in given.items() if name != "of"}
    return getattr(functions, how)(layer, **others)


def evaluated(text: str, space: dict[str, Any]) -> Any:
    """The value of an expression of a description, among names."""
    return eval(text, space)
