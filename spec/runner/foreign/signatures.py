"""Signatures as a line of Python, and the functions that have them."""

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import Absent
from ..memory import BFLOAT16, FLOATS, name_of_format

KNOWN = (*FLOATS, BFLOAT16)  # formats of floating-point numbers
USUAL = ("float64", "float32")  # formats of who names none
LONGEST = 4096  # letters of a signature
BESIDE = ("backward", "lse", "weights")  # the further functions of a function
KIND = inspect.Parameter.POSITIONAL_OR_KEYWORD
Ask = Callable[[str, Mapping[str, Any]], Any]


class ProtocolError(Exception):
    """A program or a library has answered in another form than was agreed."""


def parsed(text: str) -> tuple[str, inspect.Signature]:
    """The name and the signature in `attend(query, key, value, scale=None)`. Raises Absent."""
    name, _, rest = text.partition("(")
    try:
        (made,) = ast.parse(f"def function({rest}: pass").body
        assert isinstance(made, ast.FunctionDef)
        return name.strip(), inspect.Signature([*_parameters(made.args)])
    except (ValueError, SyntaxError, AssertionError, RecursionError, MemoryError):
        raise Absent(f"{text[:80]!r} is no signature such as 'attend(q, k, scale=None)'") from None


def _parameters(told: ast.arguments) -> Iterator[inspect.Parameter]:
    """The parameters of a function, all of which can be named."""
    if [*told.posonlyargs, *told.kwonlyargs] or {told.vararg, told.kwarg} != {None}:
        raise ValueError
    first = len(told.args) - len(told.defaults)
    for place, x in enumerate(told.args):
        default = (
            ast.literal_eval(told.defaults[place - first])
            if place >= first
            else inspect.Parameter.empty
        )
        yield inspect.Parameter(x.arg, KIND, default=default)


def made(
    name: str, signature: inspect.Signature, formats: Sequence[str], ask: Ask
) -> Callable[..., Any]:
    """A function with this name and signature.

    ask: the name and the arguments that are not their defaults -> the results. formats: of the
    arrays of floating-point numbers that it takes.
    """

    def call(*places: Any, **words: Any) -> Any:
        given = signature.bind(*places, **words).arguments
        known = signature.parameters
        told = {x: y for x, y in given.items() if not _same(y, known[x].default)}
        for x in told.values():
            _suits(x, formats)
        found = ask(name, told)
        return found[0] if len(found) == 1 else tuple(found)

    call.__name__ = call.__qualname__ = name.rpartition(".")[2]
    call.__module__ = ""  # it is of none
    vars(call).update(__signature__=signature, __formats__=formats)
    return call


def formats_of(one: Any) -> Sequence[str]:
    """The formats of floating-point numbers that such a function takes; of others, none."""
    found = getattr(one, "__formats__", None) if inspect.isfunction(one) else None
    return found if type(found) is tuple else ()


def _same(x: Any, default: Any) -> bool:
    return not isinstance(x, np.ndarray) and type(x) is type(default) and bool(x == default)


def _suits(x: Any, formats: Sequence[str]) -> None:
    """Raise NotImplementedError for an array of floating-point numbers in another format."""
    name = name_of_format(x.dtype) if isinstance(x, np.ndarray) else ""
    if name in KNOWN and name not in formats:
        raise NotImplementedError(f"takes {', '.join(formats)}, and no {name}")


def numbers(name: str, x: Any) -> list[float]:
    """An option as numbers: True is 1, None is none at all. Raises TypeError: a text, a mapping."""
    several = x if isinstance(x, tuple | list) else () if x is None else (x,)
    if not all(isinstance(y, bool | int | float) for y in several):
        raise TypeError(f"{name}={x!r}: options are numbers")
    return [y + 0 if isinstance(y, bool) else y for y in several]
