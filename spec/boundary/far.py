"""A target in a runner, seen as a function; what it has and what it returns, likewise."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spec.backends.library import WARNINGS, Elsewhere, Library, Unsuitable
from spec.boundary.messages import Interfered, array, fields, several, text, whole
from spec.boundary.placed import Answer, Leaf, Placed
from spec.boundary.remote import remote
from spec.boundary.runners import Connection, Zygote
from spec.subject import NoGradient

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")
ROOT = 0


class FarError(Exception):
    """An exception that a target raised in its runner."""


class Home:
    """The runners of one target, of which every process that judges has one of its own."""

    def __init__(self, zygote: Zygote, target: str, folder: str) -> None:
        self.zygote, self.target, self.folder = zygote, target, folder
        self.here: tuple[int, Connection] | None = None
        self.chosen: tuple[str, str] | None = None
        self.running = "float64"

    def connection(self) -> Connection:
        """The runner of this process, started if there is none."""
        if self.here is None or self.here[0] != os.getpid():
            if self.here is not None:
                self.here[1].talk.close()
            self.here = os.getpid(), self.zygote.runner()
            self.ask("start", target=self.target, folder=self.folder)
            if self.chosen is not None:
                self.choose(*self.chosen)
        return self.here[1]

    def ask(self, do: str, **told: Any) -> Any:
        """The answer to a question. Raises what the target raised; Interfered."""
        here = self.connection() if do != "start" else self.here[1]  # type: ignore[index]
        found = here.ask(do, **told)
        if "no" in found:
            raise raised(found["no"])
        return found["ok"]

    def choose(self, name: str, device: str) -> None:
        """Choose the library of its arrays. Raises Unsuitable."""
        self.ask("library", name=name, device=device)
        self.chosen = name, device

    def root(self) -> Far:
        """The target itself."""
        return Far(self, ROOT, self.ask("describe", of=ROOT))

    def pulled(self, outs: Sequence[Answer], douts: Sequence[Placed]) -> list[Any]:
        """The gradients of a recorded call, of which these are results."""
        here = self.connection()
        asked = {"outs": [x.number(here) for x in outs], "douts": [x.number(here) for x in douts]}
        told = self.ask("pull", tape=outs[0].tape, **asked, **self.mode)
        found: list[Any] = self.read(told)
        return found

    @property
    def mode(self) -> dict[str, str]:
        """How calls are made now."""
        return {"running": self.running, "warnings": WARNINGS.get()}

    def read(self, x: Any, tape: int | None = None, depth: int = 0) -> Any:
        """The object that a value of an answer stands for. Raises Interfered."""
        if x is None or type(x) in (bool, int, float):
            return x
        if type(x) is str:
            return text(x)
        if not isinstance(x, dict) or len(x) != 1:
            raise Interfered("sent an answer of another form")
        (kind, what), *_ = x.items()
        match kind:
            case "a":
                return Answer(self.connection(), array(what), tape)
            case "o":
                told = fields(what, {"id", "type"})
                return Thing(self, whole(told["id"], -(2**40), -1), text(told["type"]))
            case "f":
                return float(what) if what in ("inf", "-inf", "nan") else float("nan")
            case "d":
                pairs = [several(pair, depth) for pair in several(what, depth)]
                return {text(key): self.read(y, tape, depth + 1) for key, y in pairs}
            case "t" | "l":
                found = [self.read(y, tape, depth + 1) for y in several(what, depth)]
                return tuple(found) if kind == "t" else found
        raise Interfered("sent an answer of another form")


def raised(no: Any) -> Exception:
    """The exception that stands for one of a target, of a type of the same name."""
    told = fields(no, {"type", "line", "kind", "missing"})
    name, line = text(told["type"]), text(told["line"])
    match told["kind"]:
        case "NoGradient":
            return NoGradient(line)
        case "Absent":
            return Unsuitable(line)
        case "AttributeError" if name == "AttributeError":
            return AttributeError(line)
        case "NotImplementedError":
            bases: tuple[type, ...] = (FarError, NotImplementedError)
        case _:
            bases = (FarError,)
    found: Exception = type(name if NAME.fullmatch(name) else "Exception", bases, {})(line)
    return found


class Thing:
    """An object of a runner that is no array."""

    def __init__(self, home: Home, number: int, kind: str) -> None:
        self._home, self._number, self._type = home, number, kind


class Far(Elsewhere):
    """A function in a runner, called like one here."""

    def __init__(self, home: Home, number: int, told: Any) -> None:
        names = {"name", "qualname", "module", "kind", "type", "parameters", "line", "libraries"}
        self._told = fields(told, names)
        self._home, self._number = home, number
        self.__name__, self.__qualname__ = text(told["name"]), text(told["qualname"])
        self.__module__, self.__doc__ = text(told["module"]), text(told["line"])
        self.libraries = tuple(text(x) for x in told["libraries"]) or ("numpy",)
        if told["parameters"] is not None:
            self.__signature__ = signature(told["parameters"])

    def library(self, name: str, device: str) -> Library:
        """The array library of its runner. Raises Unsuitable."""
        return remote(self._home, name, device)

    def __call__(self, *places: Any, **words: Any) -> Any:
        """What the function returns in its runner."""
        home, leaves = self._home, list[Leaf]()
        here = home.connection()
        given = [sent(x, here, leaves) for x in places]
        named = {name: sent(x, here, leaves) for name, x in words.items()}
        asked: dict[str, Any] = {"of": self._number, "places": given, "words": named}
        if leaves:
            asked["leaves"] = [x.of.number(here) for x in leaves[0].tape]
        told = home.ask("call", **asked, **home.mode)
        return home.read(told["is"], told.get("tape"))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = self._home.read(self._home.ask("get", of=self._number, name=name))
        if isinstance(found, Thing):
            told = self._home.ask("describe", of=found._number)
            found = Far(self._home, found._number, told) if told["kind"] == "callable" else found
        return found


def sent(x: Any, here: Connection, leaves: list[Leaf]) -> Any:
    """A value as it is written in a message. leaves: those that are met are added."""
    if isinstance(x, Leaf):
        leaves.append(x)
        return {"r": x.of.number(here)}
    if isinstance(x, Placed | Answer):
        return {"r": x.number(here)}
    if isinstance(x, Far | Thing):
        return {"r": x._number}
    if isinstance(x, float) and x - x != 0:
        return {"f": repr(float(x))}
    if isinstance(x, Mapping):
        return {"d": [[key, sent(y, here, leaves)] for key, y in x.items()]}
    if isinstance(x, tuple | list):
        return {"t" if isinstance(x, tuple) else "l": [sent(y, here, leaves) for y in x]}
    return x.item() if hasattr(x, "item") else x


def signature(told: Any) -> inspect.Signature:
    """The parameters of a function as it says them. Raises Interfered."""
    found = []
    for x in several(told, 0):
        default = x.get("default", inspect.Parameter.empty)
        default = ... if isinstance(default, dict) else default
        kind = getattr(inspect.Parameter, text(x["kind"]))
        found.append(inspect.Parameter(text(x["name"]), kind, default=default))
    return inspect.Signature(found)


def far(target: str, libraries: Sequence[str] = ("numpy",)) -> Far:
    """The object that a target names, in a runner of its own."""
    folder = os.getcwd()
    return Home(Zygote(libraries, folder), target, folder).root()
