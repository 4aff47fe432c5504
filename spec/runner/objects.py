"""The objects that a judge refers to by number, and values as they are written in a message.

A value is JSON as it is (None, truth values, numbers, texts), or one of:

    {"t": [...]}  a tuple;  {"l": [...]}  a list;  {"d": [[key, value], ...]}  a mapping
    {"dtype": name}  a format, as the library calls it
    {"f": text}  a number that is not finite;  {"r": number}  an object by its number
    {"a": {...}}  in an answer: an array, with its number, format, shape and place, and where in the
                  block its bytes lie;  {"o": {...}}: any other object, with its number and type
"""

import itertools
import math
import mmap
from collections.abc import Collection, Mapping
from typing import Any

from .errors import LINE
from .memory import FORMATS, ROOM, SIZE, aligned, flat, strided

PLAIN = (type(None), bool)
FAR = 2**64  # the largest whole number that is written
LONGEST, DEEPEST = 500, 6  # of what lists in an answer hold, all in all, and of lists in lists


class Objects:
    """The objects of a runner, by number; those of the judge have positive numbers."""

    def __init__(self, block: mmap.mmap) -> None:
        self.block = block
        self.library: Any = None
        self.known: dict[int, Any] = {}
        self.buffers: dict[int, Any] = {}  # behind the arrays of the judge
        self.numbers = itertools.count(-1, -1)
        self.next, self.left = ROOM, LONGEST

    def put(self, told: Mapping[str, Any]) -> None:
        """Make an array that the judge has written into the block, in the mode for its calls."""
        number = told["id"]
        with self.library.running(told["for"]):
            if told["dtype"] == "int64":
                self.known[number] = self.library.integers(strided(flat(self.block, told), told))
                return
            buffer, view = self.library.placed(flat(self.block, told), told)
        self.known[number], self.buffers[number] = view, buffer

    def forget(self, numbers: list[int]) -> None:
        """Drop objects that the judge refers to no more."""
        for number in numbers:
            self.known.pop(number, None)
            self.buffers.pop(number, None)

    def read(self, value: Any, instead: Mapping[int, Any] | None = None) -> Any:
        """The object that a value of a message stands for. instead: other ones, by number."""
        if not isinstance(value, dict):
            return value
        if "r" in value:
            number = value["r"]
            return instead[number] if instead and number in instead else self.known[number]
        (kind, what), *_ = value.items()
        if kind == "f":
            return float(what)
        if kind == "dtype":
            return self.library.format(what)
        if kind == "d":
            return {key: self.read(x, instead) for key, x in what}
        found = [self.read(x, instead) for x in what]
        return tuple(found) if kind == "t" else found

    def begin(self) -> None:
        """From now on, write another answer."""
        self.next, self.left = ROOM, LONGEST

    def written(self, x: Any, depth: int = 0) -> Any:
        """An object as a value of an answer; a list without end is an object like others."""
        told = None if self.library is None else self.library.told(x)
        if told is not None:
            number = self._kept(x)
            return {"a": {**told, "id": number, "at": self.copied(x, told)}}
        if type(x) in PLAIN:
            return x
        if type(x) is int and abs(x) <= FAR:
            return x
        if type(x) is str:
            return x[:LINE]
        if type(x) is float:
            return x if math.isfinite(x) else {"f": repr(x)}
        if isinstance(x, tuple | list) and self._ends(x, depth):
            return {"t" if isinstance(x, tuple) else "l": [self.written(y, depth + 1) for y in x]}
        if isinstance(x, dict) and all(type(key) is str for key in x) and self._ends(x, depth):
            return {"d": [[key[:LINE], self.written(y, depth + 1)] for key, y in x.items()]}
        kind = type(x)
        named = f"{kind.__module__}.{kind.__qualname__}"
        return {"o": {"id": self._kept(x), "type": named, "kind": kind_of(x)}}

    def _kept(self, x: Any) -> int:
        """The number of an object of an answer, by which the judge may refer to it."""
        number = next(self.numbers)
        self.known[number] = x
        return number

    def _ends(self, x: Collection[Any], depth: int) -> bool:
        self.left -= len(x)
        return self.left >= 0 and depth < DEEPEST

    def copied(self, x: Any, told: Mapping[str, Any]) -> int | None:
        """Where in the block the numbers of an array were copied to; None if they have no place."""
        if told["dtype"] not in FORMATS:
            return None
        raw = self.library.raw(x)
        at, size = self.next, raw.nbytes
        if at + size > SIZE:
            return None
        self.block[at : at + size] = raw.tobytes()
        self.next = at + aligned(size)
        return at


class State:
    """The state that a library's source of random numbers is to have again."""

    def __init__(self, held: Any) -> None:
        self.held = held


def kind_of(one: Any) -> str:
    """Whether it is a class, a record of this project, callable, or none of these."""
    if isinstance(one, type):
        return "class"
    if hasattr(one, "about") and hasattr(one, "functions"):
        return "record"
    return "callable" if callable(one) else "object"
