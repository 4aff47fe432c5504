"""Messages to a program, and from it: lines of words, the last of which says how many bytes follow.

    call attend
    array query float32 2 3 4 8         a name, a format, the lengths of its axes
    option scale 0.25
    data 768                            the bytes of all arrays in this order, without gaps
    ...

The numbers of an array are in the order of C and in the byte order of the machine.
"""

import math
import os
import select
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..memory import FORMATS, ROOM, name_of_format
from .signatures import ProtocolError, numbers

LONGEST = 1 << 16  # bytes of all lines of a message
AXES, ARRAYS = 16, 16
CHUNK = 1 << 20


def message(function: str, given: Mapping[str, Any]) -> bytes:
    """A call as a message. Raises TypeError: an argument that has no form in it."""
    lines, data = [f"call {function}"], []
    for name, x in given.items():
        if isinstance(x, np.ndarray):
            lines.append(" ".join(["array", name, name_of_format(x.dtype), *map(str, x.shape)]))
            data.append(x.tobytes())
        else:
            lines.append(" ".join(["option", name, *map(repr, numbers(name, x))]))
    lines.append(f"data {sum(map(len, data))}\n")
    return b"".join(["\n".join(lines).encode(), *data])


class Closed(Exception):
    """A program has closed its output."""


class Stream:
    """The standard output of a program, as it is read."""

    def __init__(self, handle: int) -> None:
        self.handle, self.held = handle, bytearray()
        self.poll = select.poll()
        self.poll.register(handle, select.POLLIN)

    def idle(self) -> None:
        """Raise ProtocolError if there is more than was answered."""
        if not self.held and self.poll.poll(0) and (said := os.read(self.handle, CHUNK)):
            self.held += said
        if self.held:
            count = f"{len(self.held)}{'' if len(self.held) < CHUNK else ' or more'}"
            raise ProtocolError(
                f"the program wrote {count} bytes after its answer: {self._start()}"
            )

    def lines(self) -> tuple[list[list[str]], int]:
        """The lines of a message as words, without the last, and the bytes that follow them.

        Raises ProtocolError, Closed.
        """
        found, left = list[list[str]](), LONGEST
        while True:
            line = self._line(left)
            left -= len(line)
            words = line.split()
            if words[:1] == ["data"]:
                return found, _size(words, line)
            if words[:1] not in (["array"], ["refused"], ["error"], *TOLD):
                raise ProtocolError(f"the program wrote {line[:80]!r} where an answer has lines")
            found.append(words)

    def arrays(self, lines: list[list[str]], size: int) -> list[Any]:
        """The arrays that some lines name, whose bytes come next. Raises ProtocolError, Closed."""
        if len(lines) > ARRAYS:
            raise ProtocolError(f"the program answered {len(lines)} arrays, want {ARRAYS} at most")
        made = [_empty(words) for words in lines]
        wanted = sum(x.nbytes for x in made)
        if size != wanted:
            told = "; ".join(" ".join(words) for words in lines)
            what = f"the program answered {size} bytes in place of {wanted}"
            raise ProtocolError(f"{what} ({told})")
        for x in made:
            if x.size:
                self._fill(memoryview(x.reshape(-1).view("u1")))
        if self.held:
            self.idle()
        return made

    def _line(self, left: int) -> str:
        while (end := self.held.find(b"\n")) < 0:
            if len(self.held) > left:
                what = f"the program wrote {LONGEST} bytes without a line 'data BYTES'"
                raise ProtocolError(f"{what}: {self._start()}")
            self._more()
        line = bytes(self.held[:end])
        del self.held[: end + 1]
        return line.decode(errors="replace")

    def _fill(self, room: memoryview) -> None:
        first = min(len(room), len(self.held))
        room[:first] = self.held[:first]
        del self.held[:first]
        while first < len(room):
            count = os.readv(self.handle, [room[first:]])
            if not count:
                raise Closed
            first += count

    def _more(self) -> None:
        said = os.read(self.handle, CHUNK)
        if not said:
            raise Closed
        self.held += said

    def _start(self) -> str:
        return repr(bytes(self.held[:40]).decode(errors="replace"))


TOLD = (["protocol"], ["function"], ["formats"])  # of a description


def _empty(words: list[str]) -> Any:
    """An array as a line names it: `array out float32 2 3`. Raises ProtocolError."""
    line = " ".join(words)
    if len(words) < 3 or words[0] != "array" or words[2] not in FORMATS:
        raise ProtocolError(f"the program answered {line[:80]!r}, want: array NAME FORMAT LENGTHS")
    shape, form = _whole(words[3:], line), FORMATS[words[2]]
    if len(shape) > AXES or math.prod(shape) * form.itemsize > ROOM:
        raise ProtocolError(f"the program answered a larger array than any: {line[:80]}")
    return np.empty(shape, form)


def _size(words: list[str], line: str) -> int:
    """The number in `data 768`. Raises ProtocolError."""
    if len(words) != 2:
        raise ProtocolError(f"the program answered {line[:80]!r}, want: data BYTES")
    return _whole(words[1:], line)[0]


def _whole(words: list[str], line: str) -> tuple[int, ...]:
    """Words as whole numbers. Raises ProtocolError."""
    if not all(word.isascii() and word.isdecimal() and len(word) < 16 for word in words):
        raise ProtocolError(f"the program answered {line[:80]!r}, want whole numbers in it")
    return tuple(map(int, words))
