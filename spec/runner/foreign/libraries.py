"""A function of a shared library, as `attention_spec.h` declares it, as a function of Python."""

import ctypes
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Absent
from ..memory import FORMATS, ROOM, name_of_format
from .signatures import BESIDE, KNOWN, LONGEST, USUAL, ProtocolError, made, numbers, parsed
from .wire import ARRAYS, AXES

VERSION = 1
CODES = {"float64": 1, "float32": 2, "float16": 3, "bfloat16": 4, "bool": 5, "int32": 6, "int64": 7}
NAMES = {code: name for name, code in CODES.items()}
DONE, REFUSED = 0, 1
MESSAGE = 200
SIGNATURE = re.compile(rb"\0([A-Za-z_]\w*)_signature(?=\0)")
Long = ctypes.POINTER(ctypes.c_int64)


class Array(ctypes.Structure):
    """attention_array."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("shape", Long),
        ("strides", Long),
        ("format", ctypes.c_int32),
        ("rank", ctypes.c_int32),
    )


class Option(ctypes.Structure):
    """attention_option."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("values", ctypes.POINTER(ctypes.c_double)),
        ("count", ctypes.c_int64),
    )


Result = ctypes.CFUNCTYPE(
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_int64)
)


class Call(ctypes.Structure):
    """attention_call."""

    _fields_ = (
        ("version", ctypes.c_int32),
        ("array_count", ctypes.c_int32),
        ("option_count", ctypes.c_int32),
        ("message_size", ctypes.c_int32),
        ("arrays", ctypes.POINTER(Array)),
        ("options", ctypes.POINTER(Option)),
        ("message", ctypes.c_char_p),
        ("result", Result),
    )


def function(place: str, name: str) -> Callable[..., Any]:
    """A function of a library; if it has a single one, that is the default. Raises Absent."""
    try:
        library = ctypes.CDLL(place)
    except OSError as error:
        raise Absent(f"{place} cannot be loaded: {str(error).removeprefix(f'{place}: ')}") from None
    known = listed(place)
    if not name and len(known) == 1:
        (name,) = known
    text = _text(library, f"{name}_signature")
    if text is None:
        has = f"; it has {', '.join(known)}" if known else ""
        raise Absent(f"{place} has no {name}_signature, a text that says how {name} is called{has}")
    found = _one(library, place, name, name, text)
    for other in BESIDE:
        text = _text(library, f"{name}_{other}_signature")
        if text is not None:
            vars(found)[other] = _one(library, place, name, f"{name}_{other}", text)
    return found


def listed(place: str) -> list[str]:
    """The functions of a library that have a signature, by the names in its file."""
    names = [x.decode() for x in SIGNATURE.findall(Path(place).read_bytes())]
    beside = {f"{x}_{other}" for x in names for other in BESIDE}
    return sorted({*names} - beside)


def _text(library: ctypes.CDLL, name: str) -> str | None:
    """A text that a library exports; None if there is none."""
    try:
        at = ctypes.addressof(ctypes.c_char.in_dll(library, name))
    except ValueError:
        return None
    return ctypes.string_at(at).decode(errors="replace")[:LONGEST]


def _one(library: ctypes.CDLL, place: str, main: str, name: str, text: str) -> Callable[..., Any]:
    """A function, as Python calls it. main: the function that it belongs to."""
    try:
        called = library[name]
    except AttributeError:
        raise Absent(f"{place} has {name}_signature and no function {name}") from None
    written = text if text.startswith("(") else text[text.find("(") :]
    _, signature = parsed(f"{name}{written}")
    formats = tuple((_text(library, f"{main}_formats") or " ".join(USUAL)).split())
    if not {*formats} <= {*KNOWN}:
        raise Absent(f"{main}_formats of {place}: {', '.join(formats)}; want {', '.join(KNOWN)}")
    called.restype, called.argtypes = ctypes.c_int, [ctypes.POINTER(Call)]
    return made(name, signature, formats, lambda _, given: Frame(given).put(called))


class Frame:
    """A call of a function of C. kept: what must live as long as the call."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.kept: list[Any] = []
        self.results: list[Any] = []
        self.wrong = ""
        arrays = {name: x for name, x in given.items() if isinstance(x, np.ndarray)}
        options = {name: numbers(name, x) for name, x in given.items() if name not in arrays}
        self.arrays = (Array * len(arrays))(*(self._array(*one) for one in arrays.items()))
        self.options = (Option * len(options))(*(self._option(*one) for one in options.items()))
        self.message = ctypes.create_string_buffer(MESSAGE)
        self.result = Result(self._result)

    def put(self, called: Callable[..., int]) -> list[Any]:
        """The results. Raises NotImplementedError, RuntimeError: why there are none."""
        counts = len(self.arrays), len(self.options)
        message = ctypes.cast(self.message, ctypes.c_char_p)
        call = Call(VERSION, *counts, MESSAGE, self.arrays, self.options, message, self.result)
        code = called(ctypes.byref(call))
        said = " ".join(self.message.raw.partition(b"\0")[0].decode(errors="replace").split())
        if code != DONE:
            kind = NotImplementedError if code == REFUSED else RuntimeError
            raise kind(said or self.wrong or f"the function returned {code}, without a message")
        if self.wrong or not self.results:
            raise ProtocolError(self.wrong or "the function made no result (attention_result)")
        return self.results

    def _array(self, name: str, x: Any) -> Array:
        return Array(
            name.encode(),
            x.ctypes.data,
            self._long(x.shape),
            self._long(x.strides),
            CODES[name_of_format(x.dtype)],
            x.ndim,
        )

    def _option(self, name: str, values: Sequence[float]) -> Option:
        held = (ctypes.c_double * len(values))(*values)
        self.kept.append(held)
        return Option(name.encode(), held, len(values))

    def _long(self, values: Sequence[int]) -> Any:
        held = (ctypes.c_int64 * len(values))(*values)
        self.kept.append(held)
        return ctypes.cast(held, Long)

    def _result(self, _: int | None, form: int, rank: int, shape: Any) -> int | None:
        """The address of the next result, as the function asks for it; None: it asks for too much.

        Memory that nobody fills holds NaN.
        """
        lengths = [shape[axis] for axis in range(rank)] if 0 <= rank <= AXES else [-1]
        size = math.prod(lengths) * 8
        if form not in NAMES or min(lengths, default=0) < 0 or size > ROOM:
            self.wrong = f"the function asked for a result of format {form}, shape {lengths}"
            return None
        if len(self.results) >= ARRAYS:
            self.wrong = f"the function asked for more than {ARRAYS} results"
            return None
        dtype = FORMATS[NAMES[form]]
        x = np.full(lengths, np.nan if dtype.kind == "f" else 0, dtype)
        self.results.append(x)
        made = self._array("", x)
        self.kept.append(made)
        return ctypes.addressof(made)
