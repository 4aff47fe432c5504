"""Calls as source text: the lines that make their arrays, and the call."""

import inspect
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import numpy as np

from spec.backends import sources
from spec.backends.calling import BY_PLACE
from spec.backends.compiling import as_source
from spec.backends.library import Library, Unsuitable
from spec.backends.texts import gradients, leaves, viewed
from spec.boundary.remote import Format
from spec.certification.explaining.arguments import each
from spec.certification.explaining.called import SETS, Called
from spec.certification.explaining.kept import is_object
from spec.written import IMPORTS, array_of

IMPORTED = [line.split()[-1] for lines in IMPORTS.values() for line in lines]
TAKEN = ("np", *IMPORTED, "sys", "got", "want", "within", "before")
PLACED = (*BY_PLACE, inspect.Parameter.VAR_POSITIONAL)
PAGE = 40  # lines of a script; more are better told by the clause


@dataclass
class Writer:
    """Writes calls as source text.

    target: its name. compiled: how it is compiled, if it is. objects: the names of objects that
    calls at some positions made or returned. names: of the last call's arguments. shared: names of
    arrays and generators that several calls get, by identity.
    """

    library: Library
    target: str
    compiled: str = ""
    objects: dict[int, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    shared: dict[int, str] = field(default_factory=dict)
    used: Counter[str] = field(default_factory=lambda: Counter(TAKEN))

    def first(self, calls: Iterable[Called]) -> list[str]:
        """The lines that make arguments of more than one of some calls."""
        given = [
            (passed, x)
            for call in calls
            for passed, _, x in each(call.signature, call.given)
            if not call.by  # of which a script asks for gradients, as of no others
            if sources.is_generator(x) or self.library.dtype_of(x) is not None
        ]
        uses, lines = Counter(id(x) for _, x in given), list[str]()
        for name, x in given:
            if uses[id(x)] > 1 and id(x) not in self.shared:
                self.shared[id(x)] = self._new(name)
                lines.append(f"{self.shared[id(x)]} = {self._text(x)}")
        return lines

    def call(self, place: int, call: Called, kept: str = "") -> list[str]:
        """The lines that make its arrays, and the call. Raises Unsuitable if it cannot be written.

        kept: the name of its result, if it has one.
        """
        if call.name == f".{SETS}":
            name, value = call.given.values()
            return [f"{self.objects[call.whose or 0]}.{name} = {self._told(value)}"]
        words = list[str]()
        lines = [] if call.seed is None else [sources.starting(self.library, call.seed)]
        options: dict[int | str, Any] = {}
        ahead = {*takewhile(call.given.__contains__, call.signature.parameters)} - call.words
        for passed, parameter, x in each(call.signature, call.given):
            is_array = self.library.dtype_of(x) is not None
            is_new = is_array and id(x) not in self.shared
            text = self._new(passed) if is_new else self._told(x)
            lines += [f"{text} = {self._array(x)}"] if is_new else []
            self.names[passed] = text
            in_place = parameter.kind in PLACED and parameter.name in ahead
            options |= {} if is_array else {len(words) if in_place else passed: x}
            words.append(text if in_place else f"{passed}={text}")
        whose = self.target if call.whose is None else self.objects[call.whose]
        called = as_source(self.library.name, self.compiled, f"{whose}{call.name}", options)
        text = f"{called}({', '.join(words)})"
        if call.by:
            more, text = self._differentiated(call, text)
            lines += more
        if kept or is_object(call.answer):
            self.objects[place] = self._new(kept or "made")
            text = f"{self.objects[place]} = {text}"
        return [*lines, text]

    def _differentiated(self, call: Called, text: str) -> tuple[list[str], str]:
        """The lines before a call that is differentiated, and the whole of it."""
        library, names = self.library.name, [self.names[x] for x in call.by]
        if isinstance(call.taken, slice):
            text = f"{text}[:{call.taken.stop}]"
        elif call.taken is not None:
            text = f"{text}[{call.taken}]"
        several = call.dout if isinstance(call.dout, tuple) else (call.dout,)
        douts = {self._new("dout"): x for x in several if x is not None}
        lines = [f"{name} = {self._array(x)}" for name, x in douts.items()]
        return [*lines, *leaves(library, names)], gradients(library, text, names, [*douts])

    def spoiling(self, call: Called) -> list[str]:
        """The lines that write into the last call's arguments."""
        lines = []
        for name, x in call.spoiled.items():
            numbers = self.library.get(x)
            same = {*numbers.reshape(-1).tolist()}
            text = str(*same) if len(same) == 1 else self._array(x)
            lines.append(f"{self.names[name]}[...] = {text}")
        return lines

    def forget(self, places: Iterable[int], used: Counter[str]) -> None:
        """Reset the names to those used before some calls, except for those still needed."""
        outlive = {self.objects[x] for x in places if x in self.objects}
        self.used = used if not outlive else used | Counter(made=self.used["made"])

    def _new(self, name: str) -> str:
        """A name that is not used yet."""
        name = f"{name}_" if name == self.target.partition(".")[0] else name
        self.used[name] += 1
        return name if self.used[name] == 1 else f"{name}_{self.used[name]}"

    def _told(self, x: Any) -> str:
        """Any value as source text, or its name."""
        return self.shared.get(id(x)) or self._text(x)

    def _text(self, x: Any) -> str:
        """Any value as source text: arrays, several of them, and others."""
        if isinstance(x, list):
            return f"[{', '.join(map(self._text, x))}]"
        if isinstance(x, Mapping):
            return "{" + ", ".join(f"{name!r}: {self._text(y)}" for name, y in x.items()) + "}"
        if isinstance(x, Format):
            return x.written(self.library.name)
        return _option(x) if self.library.dtype_of(x) is None else self._array(x)

    def _array(self, x: Any) -> str:
        dtype, laid = self.library.dtype_of(x) or "", self.library.laid(x)
        kind = next((kind for kind in ("bool", "int") if dtype.startswith(kind)), "float")
        numbers = (self.library.get(x) if laid is None else laid.buffer).astype(kind)
        text = array_of(self.library.name, numbers, dtype, self.library.device)
        return text if laid is None else viewed(self.library.name, text, laid, dtype)


def _option(x: Any) -> str:
    """A value that is no array as source text. Raises Unsuitable if it has none."""
    if isinstance(x, np.dtype):
        return f"np.dtype({str(x)!r})"
    if isinstance(x, float) and not math.isfinite(x):
        return f"float({str(x)!r})"
    if x is None or isinstance(x, bool | int | float | str | np.generic):
        return repr(x)
    if isinstance(x, tuple):
        return f"({', '.join(map(_option, x))}{',' * (len(x) == 1)})"
    if name := sources.named(x):
        return name
    if sources.is_generator(x) and (text := sources.written(x)):
        return text
    raise Unsuitable(f"{type(x).__name__} is not written out")
