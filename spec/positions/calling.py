"""Other people's functions, called with arrays of their library and read with care.

What `spec.backends` does for attention functions, for functions of any signature:
parameters are matched by name, results are checked before their numbers are looked at,
and an exception that the function raises becomes `Refused`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec.backends import Unsuitable, inferred, library
from spec.backends.library import Library, name_of
from spec.backends.memory import laid_out
from spec.backends.results import check, numbers, refusing
from spec.notation import Array
from spec.subject import Refused

SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "first": ("first", "offset", "start", "start_pos", "position_offset"),
    "positions": ("positions", "position_ids", "input_pos", "pos"),
    "base": ("base", "theta", "rope_theta"),
    "width": ("width", "rotary_dim", "rotary_width"),
    "dtype": ("dtype",),
    "slopes": ("slopes", "alibi_slopes"),
}


VARIADIC = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


def arrays_of(function: Callable[..., Any], backend: str | None, device: str) -> Library:
    """The array library of a function: the one that is named, else told from its module.

    Raises Unsuitable: what is no function, an unknown or absent library.
    """
    if not callable(function):
        raise Unsuitable(f"{type(function).__name__} is no function and no class of functions")
    return library(backend or inferred(function)[0], device)


def options_of(made: Made, leading: int, wanted: Collection[str]) -> dict[str, str]:
    """Our name of an option -> the function's name of it, after `leading` arguments.

    Raises Unsuitable: too few parameters, one that is required and unknown, or one that
    is an option of another kind of program.
    """
    name, parameters = name_of(made.target), made.parameters
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    first = [p for p in parameters if p.kind in positional][:leading]
    if len(first) < leading:
        wants = f"want at least {leading}"
        raise Unsuitable(f"{name} takes {len(first)} positional parameters, {wants}")
    found: dict[str, str] = {}
    for parameter in parameters:
        if parameter in first or parameter.kind in VARIADIC:
            continue
        ours = next((o for o, names in SPELLINGS.items() if parameter.name in names), None)
        if ours is not None:
            found[ours] = parameter.name
        elif parameter.default is parameter.empty:
            required = f"requires a parameter {parameter.name!r}"
            raise Unsuitable(f"{name} {required}, which no problem has")
    if set(found) - set(wanted):
        raise Unsuitable(f"{name} takes {', '.join(found)}, want {', '.join(wanted)} or less")
    return found


@dataclass(frozen=True)
class Caller:
    """A library, and how its arrays are handed over and read."""

    arrays: Library

    def placed(self, x: Array, dtype: str) -> tuple[Any, Any]:
        """The numbers of x in the library: the buffer that holds them, and the array."""
        return self.arrays.put(laid_out(x, "contiguous"), dtype)

    def put(self, x: Array, dtype: str) -> Any:
        """The numbers of x as an array of the library."""
        return self.placed(x, dtype)[1]

    def whole_numbers(self, x: Array) -> Any:
        """Positions, as an array of 64-bit integers. Raises Refused: a position between two."""
        whole = np.asarray(x).astype(np.int64)
        if (whole != x).any():
            raise Refused("positions between whole numbers cannot be put as integers")
        return self.arrays.integers(whole)

    def read(self, result: Any, shape: tuple[int, ...], dtype: str, what: str) -> Array:
        """The numbers of a result, once it is known to be what was wanted. Raises Violation."""
        check(self.arrays, result, shape, dtype, what)
        return numbers(self.arrays, result)

    @contextmanager
    def running(self, dtype: str) -> Iterator[None]:
        """The library's context; an exception inside becomes Refused."""
        with self.arrays.quiet(dtype), refusing():
            yield


@dataclass(frozen=True)
class Made:
    """What is judged: a function, or a class whose objects are functions, one for each width."""

    target: Callable[..., Any]
    caller: Caller
    kept: dict[tuple[int, str], Callable[..., Any]]

    def function(self, width: int, dtype: str) -> Callable[..., Any]:
        """The function for arrays of this width; an object of a class is kept, as models do."""
        if not inspect.isclass(self.target):
            return self.target
        key = width, dtype
        if key not in self.kept:
            self.kept[key] = self._built(self.target, width, dtype)
        return self.kept[key]

    def _built(self, build: Callable[..., Any], width: int, dtype: str) -> Callable[..., Any]:
        """An object of the class; a torch module moves to where its arrays will be."""
        made: Callable[..., Any] = build(width)
        move = getattr(made, "to", None)
        if move is not None and self.caller.arrays.name == "torch":
            move(device=self.caller.arrays.device, dtype=self.caller.arrays.format(dtype))
        return made

    def attribute(self, name: str) -> Callable[..., Any] | None:
        """What a function carries beside itself; what a class has by that name are its methods."""
        found = None if inspect.isclass(self.target) else getattr(self.target, name, None)
        return found if callable(found) else None

    @property
    def differentiates(self) -> bool:
        """Whether there are gradients: the function's own, or those of its library."""
        library = self.caller.arrays.differentiate is not None
        return library or self.attribute("backward") is not None

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """Those of the function, or of what the objects are called by, without self.

        Raises Unsuitable: a function that does not tell, as some that are written in C.
        """
        called, bound = self.target, 0
        if inspect.isclass(self.target):
            methods = (getattr(self.target, name, None) for name in ("forward", "__call__"))
            called, bound = next(method for method in methods if method is not None), 1
        try:
            return list(inspect.signature(called).parameters.values())[bound:]
        except ValueError:
            raise Unsuitable(f"{name_of(self.target)} does not tell its parameters") from None


def made(target: Callable[..., Any], backend: str | None, device: str) -> Made:
    """The target, ready to be called. Raises Unsuitable."""
    return Made(target, Caller(arrays_of(target, backend, device)), {})
