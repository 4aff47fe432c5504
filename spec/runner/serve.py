"""The loop of a runner: it gets one message, does what it says, and answers with one.

start    find the target
library  choose the array library and its device
note     make arrays known, of which there are too many for one message
call     call an object; with leaves, so that it can be differentiated
pull     the gradients of a recorded call
get      an attribute of an object;  describe, overlap, fetch, compile: see `DOES`
"""

import json
import os
import socket
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from .arrays import library
from .compiled import counts
from .errors import in_a_line, refusal
from .find import described, found, names_of
from .gpu import at_work
from .inference import NAMES as LIBRARIES
from .layers import done, evaluated
from .memory import mapped
from .objects import Objects, State
from .origin import MOST, files, packages

LONGEST = 1 << 17  # bytes of a message
ASIDE = {  # what a layer is not given
    *("n", "do", "new", "free", "how"),
    *("running", "warnings", "recording", "keeping"),
}
Confine = Callable[[str, str], None]  # the target's name and folder: see `confine`


def serve(talk: socket.socket, handle: int, prints: int, confine: Confine) -> None:
    """Answer messages until the judge is gone."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(prints, 1)
    os.dup2(prints, 2)
    warnings.formatwarning = in_a_line
    runner = Runner(Objects(mapped(handle)), confine)
    for one in (nothing, prints, handle):
        os.close(one)
    with talk, suppress(ConnectionError):
        while said := talk.recv(LONGEST):
            told = json.loads(said)
            answer = {"n": told["n"], **runner.answer(told), **runner.news()}
            talk.send(json.dumps(answer).encode())


class Runner:
    """A target, and what can be done with it."""

    def __init__(self, objects: Objects, confine: Confine) -> None:
        self.objects, self.confine = objects, confine
        self.calls: set[str] = set()  # the library's functions for attention, of the first calls
        self.counted: Mapping[str, Any] = {}

    def answer(self, told: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a message, or the exception that was raised."""
        self.objects.begin()
        try:
            for array in told.get("new", []):
                self.objects.put(array)
            self.objects.forget(told.get("free", []))
            return {"ok": DOES[told["do"]](self, told)}
        except BaseException as error:
            return {"no": refusal(error)}

    def news(self) -> dict[str, Any]:
        """The counts of what was compiled so far, where they have changed."""
        found = counts()
        if found == self.counted:
            return {}
        self.counted = found
        return {"counts": found}

    def start(self, told: Mapping[str, Any]) -> Any:
        """Import the target; it is the object 0."""
        sys.path += [path for path in told.get("paths", ()) if path not in sys.path]
        self.confine(told["target"], told["folder"])
        self.objects.known[0] = found(told["target"], told["folder"])

    def choose(self, told: Mapping[str, Any]) -> Any:
        """Choose the array library."""
        self.objects.library = library(told["name"], told["device"])

    def note(self, told: Mapping[str, Any]) -> Any:
        """Nothing but what every message does: arrays are made known, and dropped."""

    def describe(self, told: Mapping[str, Any]) -> Any:
        """The description of an object."""
        return described(self.objects.known[told["of"]])

    def get(self, told: Mapping[str, Any]) -> Any:
        """An attribute of an object. Raises AttributeError."""
        return self.objects.written(getattr(self.objects.known[told["of"]], told["name"]))

    def call(self, told: Mapping[str, Any]) -> Any:
        """Call an object, and answer with its result."""
        objects, leaves = self.objects, told.get("leaves")
        function = objects.known[told["of"]]
        arrays = objects.library

        def made(*instead: Any) -> Any:
            known = dict(zip(leaves or (), instead, strict=True))
            places = [objects.read(x, known) for x in told["places"]]
            words = {name: objects.read(x, known) for name, x in told["words"].items()}
            return function(*places, **words)

        with self.mode(told):
            if leaves is None:
                watched = told.get("watch") and hasattr(arrays, "watched")
                result = arrays.watched(made, self.calls) if watched else made()
                return {"is": objects.written(result)}
            result, tape = arrays.recorded(made, [objects.known[x] for x in leaves])
            number = next(objects.numbers)
            objects.known[number] = tape
            is_one = len(told["douts"]) == 1 and arrays.told(result) is not None
            pulled = self._pulled(tape, result, told["douts"]) if is_one else None
            return {"is": objects.written(result), "tape": number, "pulled": pulled}

    def _pulled(self, tape: Any, out: Any, douts: Sequence[int]) -> dict[str, Any]:
        """The gradients of a call that has one result, or the exception that was raised."""
        objects = self.objects
        try:
            found = objects.library.pulled(tape, [out], [objects.known[x] for x in douts])
            return {"ok": objects.written([*found])}
        except BaseException as error:
            return {"no": refusal(error)}

    @contextmanager
    def mode(self, told: Mapping[str, Any]) -> Iterator[None]:
        """How a call is made: for which dtype, with which warnings, recorded, with kept chance."""
        arrays, shown = self.objects.library, (told["warnings"], None, Warning, None, 0)
        if warnings.filters[:1] != [shown]:  # at first, or as the target has changed them
            warnings.simplefilter(told["warnings"])
        if arrays is None:
            yield
            return
        recording = arrays.recording if told.get("recording") else nullcontext
        before = arrays.state() if told.get("keeping") else None
        with arrays.running(told["running"]), recording():
            try:
                yield
            finally:
                if before is not None:
                    arrays.back(before)

    def layer(self, told: Mapping[str, Any]) -> Any:
        """A layer made, loaded, read or differentiated (`layers`)."""
        objects = self.objects
        given = {name: objects.read(x) for name, x in told.items() if name not in ASIDE}
        if "tape" in given:
            given["leaves"] = objects.known[given.pop("tape")]
        with self.mode(told):
            library = "" if objects.library is None else objects.library.name
            return objects.written(done(library, told["how"], given))

    def evaluate(self, told: Mapping[str, Any]) -> Any:
        """The value of an expression of a description, among the names of the target's module."""
        known = self.objects.read(told["known"])
        with self.mode(told):
            value = evaluated(told["text"], {**names_of(self.objects.known[0]), **known})
        return self.objects.written(value)

    def space(self, told: Mapping[str, Any]) -> Any:  # noqa: ARG002 - as all have it
        """The names of the target's module."""
        return [*names_of(self.objects.known[0])]

    def pull(self, told: Mapping[str, Any]) -> Any:
        """The gradients of a recorded call by its leaves."""
        objects = self.objects
        outs, douts = ([objects.known[x] for x in told[name]] for name in ("outs", "douts"))
        with self.mode(told):
            gradients = objects.library.pulled(objects.known[told["tape"]], outs, douts)
        return objects.written(list(gradients))

    def overlap(self, told: Mapping[str, Any]) -> Any:
        """Whether an array lies in the buffer of another."""
        x, y = told["of"], told["with"]
        known, buffers = self.objects.known, self.objects.buffers
        return self.objects.library.overlap(known[x], buffers.get(y, known[y]))

    def fetch(self, told: Mapping[str, Any]) -> Any:
        """An array as it is now, the buffer of one of the judge's."""
        known, buffers = self.objects.known, self.objects.buffers
        return self.objects.written(buffers.get(told["of"], known[told["of"]]))

    def names(self, told: Mapping[str, Any]) -> Any:
        """The names of an object's attributes that are no secret."""
        return [x for x in dir(self.objects.known[told["of"]]) if not x.startswith("_")]

    def ways(self, told: Mapping[str, Any]) -> Any:  # noqa: ARG002 - as all have it
        """The ways in which the library compiles."""
        return [*self.objects.library.ways]

    def compile(self, told: Mapping[str, Any]) -> Any:
        """An object as the library's compiler runs it. Raises Absent."""
        objects = self.objects
        return objects.written(objects.library.compiled(objects.known[told["of"]], told["way"]))

    def loaded(self, told: Mapping[str, Any]) -> Any:  # noqa: ARG002 - as all have it
        """The array libraries, the target's packages, files and calls of a library, the GPU."""
        names = [name for name in LIBRARIES if name in sys.modules]
        made_of = packages(self.objects.known[0])
        found = {"libraries": names, "packages": made_of, "files": files()}
        return {**found, "calls": sorted(self.calls)[:MOST], "gpu": at_work()}

    def chance(self, told: Mapping[str, Any]) -> Any:
        """The library's own source of random numbers, and generators."""
        objects = self.objects
        match told["how"]:
            case "state":
                return objects.written(State(objects.library.state()))
            case "back":
                return objects.library.back(objects.known[told["of"]].held)
            case "start":
                return objects.library.start(told["seed"])
        return objects.written(objects.library.generator(told["seed"]))


DOES: Mapping[str, Callable[[Runner, Mapping[str, Any]], Any]] = {
    "start": Runner.start,
    "library": Runner.choose,
    "note": Runner.note,
    "describe": Runner.describe,
    "get": Runner.get,
    "call": Runner.call,
    "pull": Runner.pull,
    "overlap": Runner.overlap,
    "fetch": Runner.fetch,
    "names": Runner.names,
    "ways": Runner.ways,
    "compile": Runner.compile,
    "loaded": Runner.loaded,
    "chance": Runner.chance,
    "layer": Runner.layer,
    "evaluate": Runner.evaluate,
    "space": Runner.space,
}
