"""A target in a runner, seen as the function or the class that it is; what it returns, likewise."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from spec.backends.library import Elsewhere, Library, Unsuitable
from spec.boundary.connection import Connection
from spec.boundary.described import TOLD, formats, libraries, named, signature
from spec.boundary.home import Home
from spec.boundary.languages import file_of
from spec.boundary.messages import LARGEST, Interfered, fields, number_of, several, text, whole
from spec.boundary.placed import Answer, Beyond, Leaf, Placed, Tape
from spec.boundary.remote import remote, value

ROOT = 0
WATCHED = 3  # the first calls of a runner, in which it notes what a target calls


class Thing:
    """An object of a runner: its attributes are those that it has there.

    again: gets the same object from another runner; None for what only this one has. path: the
    attributes by which it is reached from the target; None for what a call has returned.
    """

    path: tuple[str, ...] | None = None

    def __init__(
        self, home: Home, number: int, kind: str, again: Callable[[], int] | None = None
    ) -> None:
        self._home, self._kind, self._again = home, kind, again
        self._here, self._at = home.connection(), number
        self._here.pinned += again is None

    @property
    def _number(self) -> int:
        """Its number in the runner of this process."""
        here = self._home.connection()
        if here is not self._here:
            if self._again is None:
                raise Interfered("ended its process, and what it held is lost")
            self._here, self._at = here, self._again()
        return self._at

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = attribute(self._home, lambda: self._number, name, self._again is not None)
        if isinstance(found, Far):
            self.__dict__[name] = found
            found.path = None if self.path is None else (*self.path, name)
        return found

    def __del__(self) -> None:
        if self._at < 0:
            self._here.free.append(self._at)
            self._here.pinned -= self._again is None


def attribute(home: Home, owner: Callable[[], int], name: str, again: bool) -> Any:
    """An attribute of an object of a runner. again: other runners have it as well."""

    def got() -> Any:
        return home.ask("get", of=owner(), name=name)

    return home.read(got(), again=(lambda: number_of(got())) if again else None)


class Far(Thing, Elsewhere):
    """A function of a runner, or an object that can be called."""

    def __init__(
        self,
        home: Home,
        number: int,
        kind: str,
        again: Callable[[], int] | None = None,
        told: Any = None,
    ) -> None:
        super().__init__(home, number, kind, again)
        self._known = told
        if told is not None:
            self.__qualname__, self.__module__ = text(told["qualname"]), text(told["module"])

    @property
    def _told(self) -> Mapping[str, Any]:
        if self._known is None:
            self._known = self._home.ask("describe", of=self._number)
        return fields(self._known, TOLD)

    @property
    def __signature__(self) -> inspect.Signature:
        return signature(self._told["parameters"])

    @property
    def __name__(self) -> str:
        return named(self._told["name"])

    @property
    def libraries(self) -> tuple[str, ...]:  # type: ignore[override]
        """The libraries that it may be written for, the likeliest first."""
        return libraries(self._told)

    @property
    def bound(self) -> tuple[str, ...]:  # type: ignore[override]
        """The parameters that it has a value for, as a partial function."""
        return tuple(text(x) for x in several(self._told["bound"], 0))

    def library(self, name: str, device: str) -> Library:
        """The array library of its runner. Raises Unsuitable."""
        has = formats(self._told) if file_of(self.target) else ()
        if has and name != "numpy":
            raise Unsuitable(f"{self.target} takes arrays of numpy, as it is no program of Python")
        found = remote(self._home, name, device)
        return replace(found, dtypes=has, whose=self.target) if has else found

    def __dir__(self) -> list[str]:
        return [text(x) for x in several(self._home.ask("names", of=self._number), 0)]

    def __call__(self, *places: Any, **words: Any) -> Any:
        if self._home.alone is None:
            return called(self._home, lambda: self._number, places, words)
        if self.path is None:
            raise Beyond(self.__name__)
        return self._home.alone.called(self.path, places, words, self._home.mode)


class FarClass(type, Elsewhere):
    """A class of a runner."""

    _home: Home
    _number: int

    def __call__(cls, *places: Any, **words: Any) -> Any:
        return called(cls._home, lambda: cls._number, places, words)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return attribute(cls._home, lambda: cls._number, name, cls._number == ROOT)

    @property
    def call(cls) -> Any:
        """The method that a call of its objects is."""
        return attribute(cls._home, lambda: cls._number, "__call__", cls._number == ROOT)

    def library(cls, name: str, device: str) -> Library:
        """The array library of its runner. Raises Unsuitable."""
        return remote(cls._home, name, device)


def called(
    home: Home, owner: Callable[[], int], places: Sequence[Any], words: Mapping[str, Any]
) -> Any:
    """The result of an object of a runner that is called there. Raises Beyond: it is alone."""
    if home.alone is not None:
        raise Beyond("a call of something else")
    here, leaves, number = home.begin(), list[Leaf](), owner()
    given = [sent(x, here, leaves) for x in places]
    named = {name: sent(x, here, leaves) for name, x in words.items()}
    asked: dict[str, Any] = {"of": number, "places": given, "words": named}
    if here.calls <= WATCHED:
        asked["watch"] = True
    tape = leaves[0].tape if leaves else None
    if tape is not None:
        asked["leaves"] = [x.of.number(here) for x in tape.leaves]
        asked["douts"] = [x.number(here) for x in tape.douts]
    told = home.ask("call", **asked, **home.mode)
    if tape is None:
        return home.read(fields(told, {"is"})["is"])
    return recorded(home, told, tape)


def recorded(home: Home, told: Any, tape: Tape) -> Any:
    """The result of a call that was recorded, whose gradients the tape gets if they are there."""
    told = fields(told, {"is", "tape", "pulled"})
    found = home.read(told["is"], whole(told["tape"], -LARGEST, -1))
    if told["pulled"] is not None:
        tape.out, tape.gradients = found, home.gradients(told["pulled"])
    return found


def asked(home: Home, do: str, **values: Any) -> Any:
    """The result of what a runner does with some objects."""
    here = home.connection()
    told = {name: sent(x, here, []) for name, x in values.items()}
    return home.read(home.ask(do, **told, **home.mode))


def home_of(target: Any) -> Home:
    """The runners that a target lives in."""
    found: Home = target._home
    return found


def sent(x: Any, here: Connection, leaves: list[Leaf]) -> Any:
    """A value as it is written in a message. leaves: those that are met are added."""
    if isinstance(x, Leaf):
        leaves.append(x)
        return {"r": x.of.number(here)}
    if isinstance(x, Placed | Answer):
        return {"r": x.number(here)}
    if isinstance(x, Thing | FarClass):
        return {"r": x._number}
    return value(x, partial(sent, here=here, leaves=leaves))
