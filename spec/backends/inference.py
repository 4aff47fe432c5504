"""The array library that a function or a class is written for.

A class shows it by what it inherits from, then by what its methods use, and a function by what it
uses. The imports of their module come last: a module may import torch to compare with it.
"""

import functools
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

NAMES = ("torch", "jax", "numpy")  # in this order: modules for the first two use NumPy as well
PACKAGES = (*NAMES, "jaxlib")  # in which the classes of their arrays are found

METHODS = (types.FunctionType, staticmethod, classmethod)


def inferred(function: Callable[..., Any]) -> tuple[str, ...]:
    """The libraries that `function` may be written for, the likeliest first; never empty."""
    function = _innermost(function)
    classes = _classes(function)
    inherited = {_library(x.__module__) for x in classes}
    written = (x for each in classes for x in vars(each).values() if isinstance(x, METHODS))
    methods = map(_innermost, written)
    by_use: set[str | None] = set().union(*map(_by_use, [function, *methods]))
    by_import = {_origin(value) for value in _namespace(function).values()}
    own = _library(getattr(function, "__module__", None))
    ranked = [
        name for found in ({own}, inherited, by_use, by_import) for name in NAMES if name in found
    ]
    return tuple(dict.fromkeys(ranked)) or ("numpy",)


def _classes(target: Any) -> tuple[type, ...]:
    """A class, or that of an object, and what it inherits from; none for a function."""
    if hasattr(target, "__globals__"):
        return ()
    return (target if isinstance(target, type) else type(target)).__mro__


def _namespace(target: Any) -> Mapping[str, Any]:
    """The names of the module that something stands in."""
    module = sys.modules.get(getattr(target, "__module__", None) or "")
    found: Mapping[str, Any] = getattr(target, "__globals__", vars(module) if module else {})
    return found


def _by_use(function: Any) -> set[str | None]:
    """The libraries that a function names, in its code or in its annotations."""
    code = getattr(function, "__code__", None)
    if code is None:
        return set()
    annotated = getattr(function, "__annotations__", {}).values()
    written = {x.partition(".")[0] for x in annotated if isinstance(x, str)}
    used = {*code.co_names} | written
    named = {_origin(value) for name, value in function.__globals__.items() if name in used}
    return named | {_origin(x) for x in annotated if isinstance(x, type)}


def _innermost(function: Any) -> Any:
    """The function in a partial one, a method or a decorated one."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, (types.MethodType, *METHODS[1:])):
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
