"""The runners of one target, one for each process that judges, and the questions to them."""

from __future__ import annotations

import os
import secrets
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from spec.backends.library import WARNINGS
from spec.boundary import importing
from spec.boundary.alone import Alone
from spec.boundary.connection import Connection
from spec.boundary.counts import Counts
from spec.boundary.messages import (
    LARGEST,
    Interfered,
    after,
    array,
    fields,
    path,
    plain,
    raised,
    several,
    text,
    whole,
)
from spec.boundary.placed import Answer, Beyond, Placed
from spec.boundary.runners import Zygote
from spec.runner.memory import ROOM

BESIDE = ("start", "library", "get", "describe", "names")  # of a runner while a program answers
SHARED = ("numpy", "torch")  # libraries whose arrays can lie in the shared block
homes: weakref.WeakSet[Home] = weakref.WeakSet()


def leave() -> None:
    """In a copy of a process, forget the runner of that process; the copy has one of its own."""
    for home in homes:
        home.end()


os.register_at_fork(after_in_child=leave)


class Home:
    """A target that lives in runners.

    copies: whether the library has copies of the judge's arrays, into which a target may write.
    keeping: whether the library's own random numbers are afterwards as they were before a call.
    alone: the program that answers calls now, in the place of a runner. chance: a number that no
    target knows, the same in all processes that judge it. ahead: a program, with the library of its
    arrays, and a handle: the process that reads a byte there first has the program. kept: the last
    program of this process, and the library of its arrays. root: the target, as it is here. ended:
    what earlier runners compiled. made: an object of a runner as one here, by its number, type,
    kind, and how another has it.
    """

    def __init__(self, zygote: Zygote, target: str, folder: str) -> None:
        self.zygote, self.target, self.folder = zygote, target, folder
        self.here: Connection | None = None
        self.chosen: tuple[str, str] | None = None
        self.running, self.copies, self.recording, self.keeping = "float64", False, False, False
        self.made: Callable[..., Any] = lambda *_: None
        self.root: Any = None
        self.alone: Alone | None = None
        self.chance, self.said, self.ended = secrets.randbits(64), False, Counts()
        self.ahead: tuple[tuple[str, str] | None, Alone | None, int] = None, None, 0
        self.kept: tuple[tuple[str, str], Alone] | None = None
        homes.add(self)

    def connection(self) -> Connection:
        """The runner of this process, started if there is none."""
        if self.here is None:
            self.here = self.zygote.runner()
            paths = {"folder": self.folder, "paths": [path for path in sys.path if path]}
            self.ask("start", target=self.target, **paths)
            if self.chosen is not None:
                self.choose(*self.chosen)
        return self.here

    def fresh(self) -> Any:
        """The target in a new runner, which nobody has called yet."""
        self.end()
        return self.root

    def end(self) -> None:
        """Leave the runner of this process, if there is one. Its programs still count."""
        if self.here is not None:
            self.ended += self.here.counted
            self.here.talk.close()
            self.here = None

    def begin(self) -> Connection:
        """The runner for a call: now and then a new one, if nothing of the last is needed."""
        here = self.connection()
        here.calls += 1
        if here.calls > here.most and not here.pinned:
            self.end()
            self.connection().late = here.swept()
        return self.connection()

    def late(self) -> bool:
        """Whether the target wrote into an array after its call: True once at most."""
        found = self.connection().swept() and not self.said
        self.said |= found
        return found

    def ask(self, do: str, **told: Any) -> Any:
        """The answer to a question. Raises what the target raised; Interfered; Beyond."""
        if self.alone is not None and do not in BESIDE:
            raise Beyond(do)
        found = self.connection().ask(do, **told)
        if "no" in found:
            raise raised(found["no"])
        return found["ok"]

    def choose(self, name: str, device: str) -> None:
        """Choose the library of its arrays. Raises Unsuitable."""
        here = self.connection()
        here.empty()
        self.ask("library", name=name, device=device)
        self.chosen = name, device
        here.before = here.numbers
        here.refills = name in SHARED and device == "cpu"
        self.copies = name in SHARED and device != "cpu"

    @property
    def ways(self) -> list[str]:
        """The ways in which its library compiles."""
        return [text(x) for x in several(self.ask("ways"), 0)]

    def loaded(self) -> Mapping[str, Any]:
        """The libraries, packages and files that are loaded there, calls of a library, the GPU."""
        named = ("libraries", "packages", "calls")
        told = fields(self.ask("loaded"), {*named, "files", "gpu"})
        names = {x: [text(y) for y in several(told[x], 0)] for x in named}
        names["files"] = [path(x) for x in several(told["files"], 0)]
        on_gpu = self.chosen is not None and self.chosen[1].startswith("cuda")
        return names | {"gpu": text(told["gpu"]) if on_gpu else ""}

    @property
    def source(self) -> str:
        """The file of the target and its first line, as its text says; "" of what is installed."""
        return importing.source(self.target, self.folder)

    def names(self) -> list[str]:
        """The names of the module of the target."""
        return [text(x) for x in several(self.ask("space"), 0)]

    def counts(self) -> Mapping[str, Any]:
        """The counts of what was compiled in the runners that this process has had."""
        return vars(self.ended + self.connection().counted)

    def pulled(self, outs: Sequence[Answer], douts: Sequence[Placed]) -> list[Any]:
        """The gradients of a recorded call, of which these are results."""
        if self.alone is not None:
            return self._gradients(self.alone.pulled(outs, douts, self.mode))
        here = self.connection()
        asked = {"outs": [x.number(here) for x in outs], "douts": [x.number(here) for x in douts]}
        return self._gradients(self.read(self.ask("pull", tape=outs[0].tape, **asked, **self.mode)))

    def gradients(self, told: Any) -> list[Any] | Exception:
        """The gradients that came with a result, or what the target raised. Raises Interfered."""
        if not isinstance(told, dict) or told.keys() not in ({"ok"}, {"no"}):
            raise Interfered("sent an answer of another form")
        return raised(told["no"]) if "no" in told else self._gradients(self.read(told["ok"]))

    def _gradients(self, found: Any) -> list[Any]:
        if not isinstance(found, list) or not all(isinstance(x, Answer) for x in found):
            raise Interfered("sent something else in the place of gradients")
        return found

    def early(self, library: str) -> None:
        """Start a program of its own for arrays of a library, before this process is copied.

        It imports the library during this time. One of the copies can have it.
        """
        claim, token = os.pipe()
        os.write(token, b"1")
        os.close(token)
        self.ahead = (library, "cpu"), self._alone(library, "cpu"), claim

    @contextmanager
    def program(self) -> Iterator[Alone]:
        """A program of its own that calls the target: the last one, unless it has ended."""
        assert self.chosen is not None
        chosen, found = self.kept or (self.chosen, self._free())
        if found is not None and (found.ended or chosen != self.chosen):
            found.close()
            found = None
        self.kept = self.chosen, found or self._alone(*self.chosen)
        try:
            yield self.kept[1]
        except BaseException:
            self.kept[1].close()
            self.kept = None
            raise

    def _free(self) -> Alone | None:
        """The program that was started early, if no other process has it."""
        chosen, ahead, claim = self.ahead
        return ahead if chosen == self.chosen and os.read(claim, 1) else None

    def _alone(self, library: str, device: str) -> Alone:
        return Alone.of(self.zygote, self.target, self.folder, library, device)

    @contextmanager
    def asking(self, program: Alone) -> Iterator[None]:
        """Have a program of its own answer the calls."""
        self.alone = program
        try:
            yield
        finally:
            self.alone = None

    @property
    def mode(self) -> dict[str, Any]:
        """How calls are made now."""
        ways = {"recording": self.recording, "keeping": self.keeping}
        told = {"running": self.running, "warnings": WARNINGS.get()}
        return told | {name: True for name, way in ways.items() if way}

    def read(self, x: Any, tape: int | None = None, again: Callable[[], int] | None = None) -> Any:
        """The object that a value of an answer stands for. Raises Interfered."""

        ends = [ROOM]  # of the arrays so far: none lies where another one does

        def held(kind: str, what: Any) -> Any:
            if kind == "a":
                told = array(what)
                ends.append(after(told, ends[-1]))
                return Answer(self, told, tape)
            told = fields(what, {"id", "type", "kind"})
            names = text(told["type"]), text(told["kind"])
            return self.made(self, whole(told["id"], -LARGEST, -1), *names, again)

        return plain(x, held)
