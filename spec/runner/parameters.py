"""The parameters of a program, as it tells them: in its signature, or in its docstring."""

import ast
import functools
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

Parameters = Mapping[str, inspect.Parameter]


def name_of(function: Any) -> str:
    """The name that a function has."""
    if isinstance(function, functools.partial):
        return name_of(function.func)
    return str(getattr(function, "__name__", type(function).__name__))


def told(function: Any) -> Parameters | None:
    """The parameters that a signature tells; None of what has none."""
    try:
        return inspect.signature(function).parameters
    except (ValueError, TypeError):
        return None


def parameters_of(function: Callable[..., Any]) -> Parameters:
    """The parameters that a function tells, if only in its docstring. Raises ValueError: none."""
    parameters = told(function)
    if parameters is not None:
        return parameters
    function = inspect.unwrap(function)
    if isinstance(function, functools.partial):
        inner = dict(parameters_of(function.func))
        for bound in [*list(inner)[: len(function.args)], *function.keywords]:
            inner.pop(bound, None)
        return inner
    return _documented(function)


def bound(function: Any) -> tuple[str, ...]:
    """The parameters that a partial function has a value for, by name."""
    function = inspect.unwrap(function) if callable(function) else function
    return (*function.keywords,) if isinstance(function, functools.partial) else ()


def _documented(function: Callable[..., Any]) -> Parameters:
    """The parameters that a function written in C tells in the first line of its docstring."""
    line = re.search(rf"{re.escape(name_of(function))}\((.*?)\)", function.__doc__ or "", re.DOTALL)
    if line is None:
        raise ValueError(f"{name_of(function)} does not say what parameters it takes")
    parameters: dict[str, inspect.Parameter] = {}
    for part in line[1].split(","):
        text, _, default = part.partition("=")
        name = text.split(":")[0].strip(" *\n")
        if name.isidentifier():
            parameters[name] = inspect.Parameter(
                name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=_value(default) if default else inspect.Parameter.empty,
            )
    return parameters


def _value(written: str) -> Any:
    """The value of a literal; an Ellipsis for anything else."""
    try:
        return ast.literal_eval(written.strip())
    except (ValueError, SyntaxError):
        return ...
