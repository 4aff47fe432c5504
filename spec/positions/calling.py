"""Programs that show positions: functions, or classes whose objects are functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from spec.backends import Unsuitable
from spec.backends.calling import Parameters, by_place, library_of, matched, told
from spec.backends.library import Library, name_of
from spec.backends.results import read, refusing
from spec.notation import Array

SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "first": ("first", "offset", "start", "start_pos", "position_offset"),
    "positions": ("positions", "position_ids", "input_pos", "pos"),
    "base": ("base", "theta", "rope_theta"),
    "width": ("width", "rotary_dim", "rotary_width"),
    "dtype": ("dtype",),
    "slopes": ("slopes", "alibi_slopes"),
}


def options_of(made: Made, leading: int, wanted: Collection[str]) -> dict[str, str]:
    """Our name of an option -> the function's name of it, after `leading` arguments.

    Raises Unsuitable: too few parameters, one that is required and unknown, or one that
    is an option of another kind of program.
    """
    name, parameters = name_of(made.target), made.parameters
    first = by_place(parameters, leading)
    if len(first) < leading:
        wants = f"want at least {leading}"
        raise Unsuitable(f"{name} takes {len(first)} positional parameters, {wants}")
    left = {n: p for n, p in parameters.items() if n not in first}
    found = matched(name, left, SPELLINGS)
    if set(found) - set(wanted):
        raise Unsuitable(f"{name} takes {', '.join(found)}, want {', '.join(wanted)} or less")
    return found


@dataclass(frozen=True)
class Made:
    """What is judged: a function, or a class whose objects are functions, one for each width."""

    target: Callable[..., Any]
    library: Library
    kept: dict[tuple[int, str], Callable[..., Any]] = field(default_factory=dict)

    @contextmanager
    def running(self, dtype: str) -> Iterator[None]:
        """The library's context; an exception inside becomes Refused."""
        with self.library.quiet(dtype), refusing():
            yield

    def read(self, result: Any, shape: tuple[int, ...], dtype: str, what: str) -> Array:
        """The numbers of a result, once it is known to be what was wanted. Raises Violation."""
        return read(self.library, result, shape, dtype, what)

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
        if move is not None and self.library.name == "torch":
            move(device=self.library.device, dtype=self.library.format(dtype))
        return made

    def attribute(self, name: str) -> Callable[..., Any] | None:
        """What a function carries beside itself; what a class has by that name are its methods."""
        found = None if inspect.isclass(self.target) else getattr(self.target, name, None)
        return found if callable(found) else None

    @property
    def differentiates(self) -> bool:
        """Whether there are gradients: the function's own, or those of its library."""
        return self.library.differentiate is not None or self.attribute("backward") is not None

    @property
    def parameters(self) -> Parameters:
        """Those of the function, or of what the objects are called by, without self.

        Raises Unsuitable: a function that does not tell, as some that are written in C.
        """
        called, bound = self.target, 0
        if inspect.isclass(self.target):
            methods = (getattr(self.target, name, None) for name in ("forward", "__call__"))
            called, bound = next(method for method in methods if method is not None), 1
        found = told(called)
        if found is None:
            raise Unsuitable(f"{name_of(self.target)} does not tell its parameters")
        return dict(list(found.items())[bound:])


def made(target: Callable[..., Any], backend: str | None, device: str) -> Made:
    """The target, ready to be called. Raises Unsuitable."""
    if not callable(target):
        raise Unsuitable(f"{type(target).__name__} is no function and no class of functions")
    return Made(target, library_of(target, backend, device))
