"""The array library that a function is written for, inferred from the imports of its module."""

import functools
import sys
import types
from collections.abc import Callable
from typing import Any

NAMES = ("torch", "jax", "numpy")  # in this order: modules for the first two use NumPy as well
PACKAGES = (*NAMES, "jaxlib")  # in which the classes of their arrays are found


def inferred(function: Callable[..., Any]) -> tuple[str, ...]:
    """The libraries that `function` may be written for, the likeliest first; never empty."""
    function = _innermost(function)
    own = _library(getattr(function, "__module__", None))
    namespace = getattr(function, "__globals__", None)
    if namespace is None:
        module = sys.modules.get(getattr(function, "__module__", None) or "")
        namespace = vars(module) if module else {}
    code = getattr(function, "__code__", None)
    used = set(code.co_names) if code else set()
    by_use = {_origin(value) for name, value in namespace.items() if name in used}
    by_import = {_origin(value) for value in namespace.values()}
    ranked = [name for found in ({own}, by_use, by_import) for name in NAMES if name in found]
    return tuple(dict.fromkeys(ranked)) or ("numpy",)


def _innermost(function: Any) -> Any:
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            return function


def _origin(value: object) -> str | None:
    """The library that a global of a module belongs to."""
    is_module = isinstance(value, types.ModuleType)
    name = getattr(value, "__name__" if is_module else "__module__", None)
    return _library(name if isinstance(name, str) else None)


def _library(module: str | None) -> str | None:
    first = (module or "").partition(".")[0]
    return first if first in NAMES else None
