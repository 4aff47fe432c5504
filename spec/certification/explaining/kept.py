"""The arguments and results of calls, as far as a record of calls has to know them."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np

from spec.backends.memory import laid_alike
from spec.boundary.placed import Answer, Placed
from spec.runner.inference import PACKAGES

OTHERS = ("builtins", *PACKAGES)  # of their objects nothing is written down


def duplicate(given: Mapping[str, Any], known: dict[int, Any] | None = None) -> dict[str, Any]:
    """Copies of arguments, which lie in memory alike. known: copies, by the identity of things."""
    known = {} if known is None else known
    for x in given.values():
        if type(x) is np.ndarray and id(x) not in known:
            known[id(x)] = laid_alike(x)
    return deepcopy({**given}, known)


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
