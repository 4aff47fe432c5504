"""The arguments and results of calls, as far as a record of calls has to know them."""

from typing import Any

from spec.boundary.placed import Answer, Placed
from spec.runner.inference import PACKAGES

OTHERS = ("builtins", *PACKAGES)  # of their objects nothing is written down


def is_object(x: Any) -> bool:
    """Whether the class of an object was written by a person, and can be replaced."""
    kind = type(x)
    if isinstance(x, Answer | Placed):
        return False
    return kind.__module__.partition(".")[0] not in OTHERS and not issubclass(kind, tuple | list)


def is_mutable(x: Any) -> bool:
    """Whether something is an array that its owner can write into."""
    return hasattr(x, "__setitem__") and hasattr(x, "shape")


def differ(x: Any, y: Any) -> bool:
    """Whether arrays of one shape have different numbers; NaN equals NaN."""
    if isinstance(x, Placed):
        return x.tobytes() != y.tobytes()
    return bool(((x != y) & ((x == x) | (y == y))).any())
