"""The array library that a function or a class is written for.

A class shows it by what it inherits from, then by what its methods use, and a function by what it
uses; then by what the functions and classes use that they use, of whatever module, as an
adapter need not import torch. The imports of their module come last: a module may import torch to
compare with it.
"""

import functools
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

NAMES = ("torch", "jax", "numpy")  # in this order: modules for the first two use NumPy as well
PACKAGES = (*NAMES, "jaxlib")  # in which the classes of their arrays are found

METHODS = (types.FunctionType, staticmethod, classmethod)
HELPERS = (types.FunctionType, type)


def inferred(function: Callable[..., Any]) -> tuple[str, ...]:
    """The libraries that `function` may be written for, the likeliest first; never empty."""
    function = _innermost(function)
    inherited, by_use = _directly(function)
    helpers = [x for each in _written(function) for x in _helpers(each)]
    by_helpers = set[str | None]().union(*(found for x in helpers for found in _directly(x)))
    by_import = {_origin(value) for value in _namespace(function).values()}
    own = _library(getattr(function, "__module__", None))
    seen = ({own}, inherited, by_use, by_helpers, by_import)
    ranked = [name for found in seen for name in NAMES if name in found]
    return tuple(dict.fromkeys(ranked)) or ("numpy",)


def _directly(target: Any) -> tuple[set[str | None], set[str | None]]:
    """The libraries that a class inherits from, and those that its methods, or a function, use."""
    inherited = {_library(x.__module__) for x in _classes(target)}
    return inherited, set[str | None]().union(*map(_by_use, _written(target)))


def _written(target: Any) -> list[Any]:
    """A function, or the methods of a class and of what it inherits from."""
    methods = [x for each in _classes(target) for x in vars(each).values()]
    return [target, *(_innermost(x) for x in methods if isinstance(x, METHODS))]


def _helpers(function: Any) -> list[Any]:
    """The functions and classes that a function names and that are of no array library."""
    code = getattr(function, "__code__", None)
    known: Mapping[str, Any] = getattr(function, "__globals__", {})
    named = [known[name] for name in code.co_names if name in known] if code else []
    modules = [vars(x) for x in named if isinstance(x, types.ModuleType) and not _origin(x)]
    members = [x[name] for x in modules for name in code.co_names if name in x] if code else []
    return [_innermost(x) for x in (*named, *members) if isinstance(x, HELPERS) and not _origin(x)]


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
