"""A target that a program of its own calls, which has nothing of the runner (`runner.alone`).

A target that shares its process with the runner can see it, and change what it says. So the judge
asks some of its questions here as well. Functions of arrays are called, and what is reached from
them by attributes; the rest is `Beyond`.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from spec.boundary.messages import Interfered, array, fields, plain, raised, several, text, whole
from spec.boundary.placed import Beyond, Leaf, Placed, Taken
from spec.boundary.remote import value
from spec.boundary.runners import Zygote
from spec.runner.memory import FORMATS, ROOM, SIZE
from spec.runner.serve import LONGEST

NAMES = ("main.py", "run.py", "script.py", "example.py", "train.py", "test.py", "demo.py")
ENDED = {"type": "Ended", "line": "it ends its process", "kind": "", "missing": None}
NO, OK = {"no", "changed"}, {"ok", "changed", "shared", "again"}
FACTS = {"dtype", "shape", "device", "grad", "size"}
USUAL: Mapping[str, Any] = {
    **{"pull": None, "times": 0, "words": {}},
    **dict.fromkeys(("leaves", "path", "places"), ()),
}


def form(x: Placed) -> Mapping[str, Any]:
    """The format of an array, and how it lies in its buffer."""
    laid = x.laid
    told = {"shape": laid.shape, "strides": laid.strides, "offset": laid.offset}
    return {**told, "dtype": x.dtype}


class Other:
    """Something that a target returned and that is no array. kind: its type."""

    def __init__(self, kind: str) -> None:
        self._kind = kind


class Alone:
    """The program that calls a target, and the questions to it. ended: it answers no more."""

    def __init__(self, zygote: Zygote, of: tuple[str, str], told: Mapping[str, Any]) -> None:
        self.ends, asked, answers = zygote.alone(secrets.choice(NAMES), of, told["paths"])
        self.asked, self.answers = os.fdopen(asked, "wb"), os.fdopen(answers, "rb")
        self.tapes, self.calls, self.times, self.ended = 0, 0, 0, False
        self._send(told, ())

    @staticmethod
    def of(zygote: Zygote, target: str, folder: str, library: str, device: str) -> Alone:
        """A program that has begun to import a library, and then a target, which is in a folder."""
        place, _, name = target.rpartition(":")
        is_file = place.endswith(".py")
        path = Path(folder, place).resolve()
        told: dict[str, Any] = {"name": name, "module": path.stem if is_file else place}
        told["file"] = str(path) if is_file else ""
        told["folder"] = str(path.parent) if is_file else folder
        told |= {"library": library, "device": device, "paths": [x for x in sys.path if x]}
        return Alone(zygote, (target, folder), told)

    def called(self, path: Sequence[str], places: Any, words: Any, mode: Mapping[str, Any]) -> Any:
        """The result of the target, or of one of its attributes. Raises what it raised."""
        arrays: list[Placed] = []
        leaves: list[int] = []

        def sent(x: Any) -> Any:
            if isinstance(x, Leaf | Placed):
                one = x.of if isinstance(x, Leaf) else x
                leaves.extend([len(arrays)] * isinstance(x, Leaf))
                arrays.append(one)
                return {"r": len(arrays) - 1}
            return value(x, sent)

        told: dict[str, Any] = {"places": [*map(sent, places)]}
        told["words"] = {name: sent(x) for name, x in words.items()}
        times, self.times = self.times, 0
        self.tapes += 1
        how = {"path": path, "leaves": leaves, "times": times, "running": mode["running"]}
        return self._asked({**USUAL, **told, **how}, arrays)

    def pulled(self, outs: Sequence[Any], douts: Sequence[Any], mode: Mapping[str, Any]) -> Any:
        """The gradients of the last call by its leaves."""
        if any(x.tape != self.tapes for x in outs):
            raise Beyond("the gradients of an earlier call")
        told = {**USUAL, "pull": [x.at for x in outs], "running": mode["running"]}
        return self._asked(told, [*douts])

    def close(self) -> None:
        """End the program."""
        for one in (self.asked, self.answers, self.ends):
            with suppress(OSError):
                one.close()

    def __del__(self) -> None:
        if hasattr(self, "answers"):  # it was started
            self.close()

    def _asked(self, told: Mapping[str, Any], arrays: Sequence[Placed]) -> Any:
        self.calls += 1
        forms = [form(x) for x in arrays]
        parts = [(x.raw if x.target.copies else x.now()).tobytes() for x in arrays]
        self._send({**told, "arrays": forms, "sizes": [*map(len, parts)]}, parts)
        found, made = self._heard(), list[Taken]()

        def held(kind: str, what: Any) -> Any:
            if kind != "a":
                return Other(text(fields(what, {"id", "type", "kind"})["type"]))
            made.append(self._taken(what, len(made)))
            return made[-1]

        result = plain(found["ok"], held) if "ok" in found else None
        for n in several(found["changed"], 0):
            one = arrays[whole(n, 0, len(arrays) - 1)]
            one.becomes(self._read(one.raw.nbytes))
        if "no" in found:
            raise raised(found["no"])
        for x in made:
            x.shared = [arrays[whole(n, 0, len(arrays) - 1)] for n in several(found["shared"], 0)]
            x.again = found["again"] is True
        return result

    def _taken(self, what: Any, at: int) -> Taken:
        size = whole(fields(what, FACTS)["size"], 0, SIZE - ROOM)
        told = array({n: x for n, x in what.items() if n != "size"} | {"id": -1, "at": None})
        raw, known = self._read(size), FORMATS.get(told["dtype"])
        if known is None:
            return Taken(told, None, at, self.tapes)
        if size != math.prod(told["shape"]) * known.itemsize:
            raise Interfered("sent an array of another form")
        return Taken(told, np.frombuffer(raw, known).reshape(told["shape"]), at, self.tapes)

    def _send(self, told: Mapping[str, Any], parts: Sequence[bytes]) -> None:
        with suppress(BrokenPipeError):  # what it says of its end is read
            self.asked.write(json.dumps(told).encode() + b"\n")
            self.asked.writelines(parts)
            self.asked.flush()

    def _heard(self) -> Mapping[str, Any]:
        line = self.answers.readline(LONGEST)
        if not line:
            self.ended = True
            return {"no": ENDED, "changed": []}
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            raise Interfered("sent something that is no answer") from None
        if not isinstance(found, dict) or {*found} not in (NO, OK):
            raise Interfered("sent an answer of another form")
        return found

    def _read(self, size: int) -> bytes:
        found = self.answers.read(size)
        if len(found) != size:
            raise Interfered("sent less than it had said")
        return found
