"""The answers of a runner, checked before anything in them is used.

A runner shares its process with a target, so an answer may be anything. One that answers no
question, or has another form than an answer to that question has, is `Interfered`.
"""

import json
import math
import re
import signal
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from spec.backends.library import Unsuitable
from spec.printable import printable
from spec.runner.errors import LINE as TEXT
from spec.runner.memory import FORMATS, ROOM, SIZE
from spec.runner.objects import FAR
from spec.subject import NoGradient, Over

WALLED = "; a target reads and writes only its own folders, but with --isolation fork"
DEEPEST, LONGEST, AXES, LARGEST = 8, 10_000, 16, 2**40
TRUTHS = (type(None), bool)
CODES = 256
PATH = 4096
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")
STAYS = ("CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "WINCH")  # signals that end nobody
FATES = {*range(1 - signal.NSIG, CODES)} - {-signal.Signals[f"SIG{x}"] for x in STAYS}


class Interfered(Over):
    """A runner did what no runner does; the message says what, and begins with a verb."""


class Ended(Over):
    """A runner ended while its judge goes on; the message says how, and begins with a verb."""


def parsed(said: bytes, number: str) -> Mapping[str, Any]:
    """The answer to the question of this number. Raises Interfered."""
    try:
        found = json.loads(said, parse_constant=_no_number, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise Interfered("sent something that is no answer") from None
    if not isinstance(found, dict):
        raise Interfered("sent something that is no answer")
    if found.keys() == {"died"}:
        if type(found["died"]) is not int or found["died"] not in FATES:
            raise Interfered("said that it ended as no process does")
        return found
    if found.get("n") != number or found.keys() - {"counts"} not in ({"n", "ok"}, {"n", "no"}):
        raise Interfered("sent an answer that nobody asked for")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A mapping of JSON, in which each name stands once. Raises ValueError."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def text(x: Any) -> str:
    """A text that a runner sent, as one printable line. Raises Interfered."""
    if type(x) is not str:
        raise Interfered("sent something else in the place of a text")
    return printable(x[:TEXT])[:TEXT]


def path(x: Any) -> str:
    """An absolute path that a runner sent, in which each character can be printed.

    Raises Interfered.
    """
    if type(x) is not str or not x.startswith("/") or len(x) > PATH or not x.isprintable():
        raise Interfered("sent something else in the place of a path")
    return x


def whole(x: Any, low: int, high: int) -> int:
    """A whole number that a runner sent. Raises Interfered: it lies outside of low … high."""
    if type(x) is not int or not low <= x <= high:
        raise Interfered(f"sent something else in the place of a number from {low} to {high}")
    return x


def numbered(x: Any) -> int:
    """The number of an object of a runner. Raises Interfered: it is none."""
    found = getattr(x, "_number", None)
    if type(found) is not int:
        raise Interfered("sent something else in the place of an object")
    return found


def truth(x: Any) -> bool:
    """A truth value that a runner sent. Raises Interfered."""
    if type(x) is not bool:
        raise Interfered("sent something else in the place of a truth value")
    return x


def number_of(answer: Any) -> int:
    """The number of the object that an answer is. Raises Interfered."""
    held = plain(answer, lambda _, what: what) if isinstance(answer, dict) else None
    return whole(fields(held, {"id", "type", "kind"})["id"], -LARGEST, -1)


def fields(x: Any, names: set[str]) -> Mapping[str, Any]:
    """A mapping with these names, and no others. Raises Interfered."""
    if not isinstance(x, dict) or x.keys() != names:
        raise Interfered("sent an answer of another form")
    return x


def array(x: Any) -> Mapping[str, Any]:
    """The facts about an array in an answer. Raises Interfered."""
    told = fields(x, {"dtype", "shape", "device", "grad", "id", "at"})
    shape = told["shape"]
    if not isinstance(shape, list) or len(shape) > AXES or type(told["grad"]) not in TRUTHS:
        raise Interfered("sent an array of another form")
    sizes = tuple(whole(size, 0, LARGEST) for size in shape)
    whole(math.prod(size or 1 for size in sizes), 0, LARGEST)
    checked: dict[str, Any] = {
        "dtype": text(told["dtype"]),
        "shape": sizes,
        "device": text(told["device"]),
    }
    checked |= {"grad": told["grad"], "id": whole(told["id"], -LARGEST, -1), "at": None}
    if told["at"] is not None:
        if told["dtype"] not in FORMATS:
            raise Interfered("sent an array in no format")
        size = math.prod(sizes) * FORMATS[told["dtype"]].itemsize
        checked["at"] = whole(told["at"], ROOM, SIZE)
        if checked["at"] + size > SIZE:
            raise Interfered("sent an array that lies outside of the block")
    return checked


def after(told: Mapping[str, Any], end: int) -> int:
    """Where in the block an array of an answer ends. Raises Interfered: it begins before `end`."""
    if told["at"] is None:
        return end
    if told["at"] < end:
        raise Interfered("sent two arrays in one place")
    return int(told["at"]) + math.prod(told["shape"]) * FORMATS[told["dtype"]].itemsize


def finite(x: float) -> float:
    """A number that is written as one. Raises Interfered: it is too large for that."""
    if not math.isfinite(x):
        raise Interfered("sent a number that is none")
    return x


def several(x: Any, depth: int) -> list[Any]:
    """The list in an answer. Raises Interfered: it is none, or there is no end to it."""
    if not isinstance(x, list) or len(x) > LONGEST or depth > DEEPEST:
        raise Interfered("sent an answer without end")
    return x


def nothing(kind: str, what: Any) -> Any:
    """Raises Interfered: there is nothing of this kind in the place of a plain value."""
    del kind, what
    raise Interfered("sent an answer of another form")


def plain(x: Any, held: Callable[[str, Any], Any] = nothing, depth: int = 0) -> Any:
    """The value in an answer. held: what an array or an object becomes. Raises Interfered."""
    if type(x) in TRUTHS:
        return x
    if type(x) is int:
        return whole(x, -FAR, FAR)
    if type(x) is float:
        return finite(x)
    if type(x) is str:
        return text(x)
    if x == {}:
        return ...
    if not isinstance(x, dict) or len(x) != 1:
        raise Interfered("sent an answer of another form")
    ((kind, what),) = x.items()
    match kind:
        case "f" if what in ("inf", "-inf", "nan"):
            return float(what)
        case "d":
            pairs = [several(pair, depth) for pair in several(what, depth)]
            if any(len(pair) != 2 for pair in pairs):
                raise Interfered("sent an answer of another form")
            return {text(key): plain(y, held, depth + 1) for key, y in pairs}
        case "t" | "l":
            found = [plain(y, held, depth + 1) for y in several(what, depth)]
            return tuple(found) if kind == "t" else found
        case "a" | "o":
            return held(kind, what)
    raise Interfered("sent an answer of another form")


class Absent(Unsuitable):
    """Something is not where a target's runner looked for it; the message says what."""


class FarError(Exception):
    """An exception that a target raised in its runner."""


def raised(no: Any) -> Exception:
    """The exception that stands for one of a target, of a type of the same name."""
    told = fields(no, {"type", "line", "kind", "missing"})
    name, line = text(told["type"]), text(told["line"])
    ours: Mapping[Any, type[Exception]] = {"NoGradient": NoGradient, "Absent": Absent}
    of = text(told["kind"])
    if of in ours:
        return ours[of](line)
    if of == name == "AttributeError":
        return AttributeError(line)
    if of == name == "ModuleNotFoundError":
        return ModuleNotFoundError(line, name=text(told["missing"] or ""))
    line += WALLED if name == "PermissionError" else ""
    lacks = of == "NotImplementedError"
    bases = (FarError, NotImplementedError) if lacks else (FarError,)
    kind: Any = type(name if NAME.fullmatch(name) else "Exception", bases, {})
    found: Exception = kind(line)
    return found
