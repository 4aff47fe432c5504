"""A program in any language as functions: it is started once, and answers messages (`wire`)."""

import inspect
import os
import re
import subprocess
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ..errors import Absent, Ended
from .signatures import KNOWN, USUAL, ProtocolError, made, parsed
from .wire import Closed, Stream, message

VERSION = 1  # of the protocol
ASK = b"describe 1\ndata 0\n"
FAILED: Mapping[str, type[Exception]] = {"refused": NotImplementedError, "error": RuntimeError}
WAITING = 1.0  # seconds in which a program ends that has closed its output
NAMED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?", re.ASCII)


class Program:
    """A program that runs, and is started again after an answer that nobody understands."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.process: subprocess.Popen[bytes] | None = None
        self.functions: dict[str, inspect.Signature] = {}
        self.formats: tuple[str, ...] = USUAL

    def start(self) -> None:
        """Start it, and have it describe itself. Raises Absent."""
        try:
            self.process = subprocess.Popen(
                [self.place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
            )
        except OSError as error:
            raise Absent(f"{self.place} cannot be started: {_why(error)}") from None
        weakref.finalize(self, _ended, self.process)
        assert self.process.stdout is not None
        self.stream = Stream(self.process.stdout.fileno())
        try:
            self._described(self._asked(ASK))
        except ProtocolError as error:
            raise Absent(f"{self.place} does not describe itself: {error}") from None
        except Ended as error:
            raise Absent(f"{self.place} {error} before it described itself") from None

    def call(self, function: str, given: Mapping[str, Any]) -> list[Any]:
        """The results of a function. Raises what the program answers; ProtocolError, Ended."""
        asked = message(function, given)
        if self.process is None:
            self.start()
        return self._asked(asked)

    def _asked(self, asked: bytes) -> Any:
        """The answer to a message; of a description, its lines."""
        assert self.process is not None
        try:
            self.stream.idle()
            self._send(asked)
            lines, size = self.stream.lines()
            if asked is ASK:
                return lines
            first = lines[0] if lines else [""]
            found = self.stream.arrays([] if first[0] in FAILED else lines, size)
            if first[0] not in FAILED:
                return found
        except (Closed, BrokenPipeError):
            raise self._end() from None
        except ProtocolError:
            _ended(self.process)
            self.process = None
            raise
        raise FAILED[first[0]](" ".join(first[1:]))

    def _send(self, asked: bytes) -> None:
        assert self.process is not None
        assert self.process.stdin is not None
        left = memoryview(asked)
        while left:
            left = left[self.process.stdin.write(left) :]

    def _end(self) -> Exception:
        """The exception for a program that answers no more."""
        process, self.process = self.process, None
        assert process is not None
        try:
            code = process.wait(WAITING)
        except subprocess.TimeoutExpired:
            _ended(process)
            return ProtocolError("the program closed its output")
        _ended(process)
        return Ended(code)

    def _described(self, lines: list[list[str]]) -> None:
        """Note its functions and formats. Raises Absent, ProtocolError."""
        told = {word: [x[1:] for x in lines if x[0] == word] for word in ("protocol", "formats")}
        if told["protocol"] != [[str(VERSION)]]:
            raise ProtocolError(f"want a line 'protocol {VERSION}'")
        pairs = [parsed(" ".join(x[1:])) for x in lines if x[0] == "function"]
        self.functions = dict(pairs)
        if not pairs or not all(NAMED.fullmatch(name) for name in self.functions):
            raise ProtocolError("want a line such as 'function attend(query, key, value)'")
        self.formats = tuple(told["formats"][0]) if told["formats"] else USUAL
        if not {*self.formats} <= {*KNOWN}:
            raise ProtocolError(f"formats are {', '.join(KNOWN)}, and not {self.formats}")


def function(place: str, name: str) -> Callable[..., Any]:
    """A function of a program, its first one by default. Raises Absent."""
    program = Program(place)
    program.start()
    known = {x: y for x, y in program.functions.items() if "." not in x}
    name = name or next(iter(known), "")
    if name not in known:
        raise Absent(f"{place} has no function {name!r}; it has {', '.join(known)}")
    found = made(name, known[name], program.formats, program.call)
    for other, signature in program.functions.items():
        owner, _, short = other.rpartition(".")
        if owner == name:
            vars(found)[short] = made(other, signature, program.formats, program.call)
    return found


def _ended(process: "subprocess.Popen[bytes]") -> None:
    """End a program, and close what led to it."""
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            pipe and pipe.close()
    process.kill()
    process.wait()


def _why(error: OSError) -> str:
    """Why a program cannot be started, and what helps."""
    told = os.strerror(error.errno or 0)
    shebang = "; the first line of a script names its interpreter: #!/usr/bin/env node"
    return told + shebang * (told == os.strerror(8))  # ENOEXEC
