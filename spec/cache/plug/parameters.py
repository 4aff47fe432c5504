"""What a class of caches wants to be told: parameters matched by name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from spec.backends import Unsuitable

KNOWN = ("batch", "heads", "key_heads", "capacity", "width", "value_width", "dtype", "device")


def constructor(target: Callable[..., Any], name: str) -> tuple[str, ...]:
    """Which of the arguments that a cache may be made with `target` takes."""
    try:
        parameters = inspect.signature(target).parameters
    except (ValueError, TypeError):
        return ()
    for parameter in parameters.values():
        optional = parameter.default is not parameter.empty
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.name not in KNOWN and not optional and not variadic:
            raise Unsuitable(
                f"{name} is made with {parameter.name!r}, which no problem has; "
                f"there are {', '.join(KNOWN)}"
            )
    bound = target.keywords if isinstance(target, functools.partial) else {}
    return tuple(n for n in KNOWN if n in parameters and n not in bound)


def takes_counts(made: Any) -> bool:
    """Whether its sequences may be of different lengths."""
    return "counts" in inspect.signature(made.extend).parameters
