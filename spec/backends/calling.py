"""Other people's programs: which parameters they have, and how they become methods of ours.

An ordinary function is called as it says itself, in its signature or, where it is written in C,
in its docstring. Parameters are matched by name; a required one that nobody knows makes it no
target. An error is reported in one line (`Unsuitable`) before anything is judged.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from spec.backends import known, library, likely
from spec.backends.library import Elsewhere, Library, Unsuitable, name_of
from spec.comparison import Violation
from spec.runner.parameters import Parameters as Parameters
from spec.runner.parameters import bound
from spec.runner.parameters import parameters_of as _parameters_of
from spec.runner.parameters import told as told
from spec.subject import Refused

Wrapper = TypeVar("Wrapper")

BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

UNTESTED = "not tested: "  # begins a note
UNFILLED = (
    "which cannot be filled: give {0} a default, or wrap the target in a function without {0}"
)


def library_of(function: Callable[..., Any], backend: str | None, device: str) -> Library:
    """The array library of a function: the one that is named, else inferred from its module."""
    return library(backend or likely(function)[0], device, function)


def plugged(
    target: Callable[..., Any],
    *,
    name: str | None = None,
    backend: str | None = None,
    device: str = "cpu",
    dtypes: tuple[str, ...] | None = None,
    origin: str = "",
) -> tuple[Library, dict[str, Any]]:
    """The array library of a target, and what the record of any kind says of it.

    name, origin: what it is called, and how a person imports it. backend, device: "numpy",
    "torch" or "jax", by default inferred from the target's module, and where it runs. dtypes:
    the formats it takes, by default all of the library's.
    Raises Unsuitable: an unknown or absent library, or formats that it has not.
    """
    arrays = library_of(target, backend, device)
    formats = known(dtypes or arrays.dtypes, arrays)
    return arrays, {"name": name or name_of(target), "dtypes": formats, "origin": origin}


def parameters_of(function: Callable[..., Any]) -> Parameters:
    """The parameters that a function tells, if only in its docstring. Raises Unsuitable."""
    try:
        return _parameters_of(function)
    except ValueError as reason:
        raise Unsuitable(str(reason)) from None


def by_place(parameters: Parameters, number: int) -> list[str]:
    """The first parameters that can be passed by position, as many as there are of `number`."""
    return [name for name, p in parameters.items() if p.kind in BY_PLACE][:number]


def required(parameter: inspect.Parameter) -> bool:
    """Whether a call must pass it."""
    return parameter.default is parameter.empty and parameter.kind not in VARIADIC


def spelled(names: Sequence[str], parameters: Parameters) -> str | None:
    """The first of the names that is a parameter."""
    return next((name for name in names if name in parameters), None)


def matched(
    title: str,
    parameters: Parameters,
    spellings: Mapping[str, Sequence[str]],
    advice: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Our name of an option -> the function's name of it, of those that it takes.

    Raises Unsuitable: a parameter that is required and unknown.
    """
    named = {ours: spelled(names, parameters) for ours, names in spellings.items()}
    found = {ours: name for ours, name in named.items() if name is not None}
    if others := required_beside(parameters, found.values()):
        raise Unsuitable(required_and_unknown(title, others, advice))
    return found


def required_beside(parameters: Parameters, known: Iterable[str]) -> list[str]:
    """The parameters that every call must pass, but for those that are known."""
    passed = {*known}
    return [name for name, x in parameters.items() if required(x) and name not in passed]


def unused(function: Any, parameters: Parameters, taken: Iterable[str]) -> tuple[str, ...]:
    """The parameters that no call passes: not those taken, nor what a partial has bound."""
    passed = {*taken, *(function.bound if isinstance(function, Elsewhere) else bound(function))}
    return tuple(n for n, p in parameters.items() if n not in passed and p.kind not in VARIADIC)


def named(parameters: Iterable[str], advice: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The note that names parameters which are not tested, if there are any.

    advice: for some of them, what would test them.
    """
    told = advice or {}
    words = [f"{name} ({told[name]})" if name in told else name for name in parameters]
    what = f"the parameter{'s' * (len(words) > 1)}"
    return (f"{UNTESTED}{what} {', '.join(words)}",) if words else ()


def required_and_unknown(
    title: str, names: Sequence[str], advice: Mapping[str, str] | None = None
) -> str:
    """The error for parameters that every call must pass, and that no problem has."""
    what, them = ("the parameters", "them") if len(names) > 1 else ("a parameter", "it")
    told = [(advice or {}).get(name, UNFILLED.format(them)) for name in names]
    return f"{title} requires {what} {quoted(names)}, {'; '.join(dict.fromkeys(told))}"


def quoted(names: Sequence[str]) -> str:
    """Names in quotes, as a list in a sentence."""
    *first, last = map(repr, names)
    return f"{', '.join(first)} and {last}" if first else last


@contextmanager
def probing(claim: str, where: str = "") -> Iterator[None]:
    """A first small problem: a wrong or a refused answer makes the target no target.

    where: how it was called, as a hint for who raises an exception.
    """
    try:
        yield
    except Violation as reason:
        raise Unsuitable(f"{claim}: {reason}") from None
    except Refused as reason:
        raise Unsuitable(f"{claim}: {reason}{where}") from None


def behind(function: Any, wrapper: type[Wrapper]) -> Wrapper | None:
    """The wrapper of a program that a function of a record is a method of, if it is one."""
    seen = getattr(function, "__self__", None)
    return seen if isinstance(seen, wrapper) else None


def anew(method: Any, **changes: Any) -> Any:
    """The same method of the same program, but for `changes` in how the program is seen."""
    return getattr(replace(method.__self__, **changes), method.__name__)
