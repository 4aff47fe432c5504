"""The description of a target, as its judge uses it: names, parameters, libraries."""

import inspect
from collections.abc import Mapping
from typing import Any

from spec.backends.library import Unsuitable
from spec.boundary.messages import NAME, Interfered, fields, plain, several, text
from spec.notation import DTYPES
from spec.runner.inference import NAMES

EMPTY = inspect.Parameter.empty
# All that a description has (`runner.find`).
TOLD = {
    *("name", "qualname", "module", "kind", "type", "line"),
    *("parameters", "bound", "libraries", "traits", "bases", "threads", "formats"),
}


def named(x: Any) -> str:
    """A name that a runner sent, if it is one; else what any function is called."""
    name = text(x)
    return name if NAME.fullmatch(name) else "target"


def libraries(told: Mapping[str, Any]) -> tuple[str, ...]:
    """The libraries in a description."""
    found = tuple(text(x) for x in several(told["libraries"], 0))
    if not {*found} <= {*NAMES}:
        raise Interfered("named a library that there is not")
    return found or ("numpy",)


def formats(told: Mapping[str, Any]) -> tuple[str, ...]:
    """The formats that a target in another language takes, in a description; none of others."""
    found = [text(x) for x in several(told["formats"], 0)]
    if not {*found} <= {*DTYPES}:
        raise Interfered("named a format that there is not")
    return tuple(x for x in DTYPES if x in found)


def signature(told: Any) -> inspect.Signature:
    """The parameters of a function as it tells them. Raises Unsuitable: it does not; Interfered."""
    if isinstance(told, str):
        raise Unsuitable(text(told))
    try:
        return inspect.Signature([_parameter(x) for x in several(told, 0)])
    except (ValueError, TypeError, AttributeError, KeyError):
        raise Interfered("sent parameters that no function has") from None


def _parameter(x: Any) -> inspect.Parameter:
    fields(x, {"name", "kind", "default"} if "default" in x else {"name", "kind"})
    kind = getattr(inspect.Parameter, text(x["kind"]))
    told = plain(x["default"]) if "default" in x else EMPTY
    return inspect.Parameter(text(x["name"]), kind, default=told)
