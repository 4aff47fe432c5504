"""A failure as one plain call of a function, if one of those that the clause made shows it.

The function is plugged in anew as one that writes down how it is called. Where what a comparison
got is what a call returned, or a part of that, and the same call made once more returns what is as
wrong, a script can make that call. It needs to know nothing of the kind.
"""

import functools
import inspect
import math
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spec.backends.calling import BY_PLACE, library_of
from spec.backends.library import Library, Unsuitable
from spec.backends.results import refusing
from spec.certification.settings import Request
from spec.certification.target.loading import load, resolved
from spec.clause import Clause
from spec.kinds import kind_of
from spec.notation import Array
from spec.subject import Refused, Subject, named
from spec.trial import broken
from spec.written import CLOSE, IMPORTS, MADE, NUMBERS, PRINT, imported, literal

TAKEN = ("np", "torch", "jax", "jnp", "sys", "got", "want", "within")
PLACED = (*BY_PLACE, inspect.Parameter.VAR_POSITIONAL)


@dataclass(frozen=True)
class Called:
    """A call: of what attribute of a function, "" for itself, with what, and what was returned."""

    name: str
    signature: inspect.Signature
    given: Mapping[str, Any]
    answer: Any

    def of(self, target: Any) -> Any:
        """What the same call of a function returns."""
        given = inspect.BoundArguments(self.signature, deepcopy({**self.given}))
        called = functools.reduce(getattr, self.name.split(".")[1:], target)
        return called(*given.args, **given.kwargs)


@dataclass(frozen=True)
class Tape:
    """The calls of a function, and of the functions that are attributes of it."""

    calls: list[Called] = field(default_factory=list)

    def of(self, function: Any, name: str = "") -> Any:
        """The function as one that is written down."""
        signature = inspect.signature(function)

        @functools.wraps(function)
        def seen(*places: Any, **words: Any) -> Any:
            given = deepcopy(signature.bind(*places, **words).arguments)
            answer = function(*places, **words)
            self.calls.append(Called(name, signature, given, answer))
            return answer

        for other, x in vars(function).items():
            if callable(x) and not isinstance(x, type) and other != "__wrapped__":
                setattr(seen, other, self.of(x, f"{name}.{other}"))
        return seen


@dataclass(frozen=True)
class Writer:
    """Writes calls of a target whose arrays are those of a library."""

    library: Library
    origin: str
    target: Any  # that nobody has asked anything, where there is one

    def script(self, call: Called, got: Array, want: Array, within: Array) -> list[str]:
        """The lines that make a call and compare what is returned; none if this is not `got`."""
        if isinstance(call.answer, tuple | list):
            found = [place for place, x in enumerate(call.answer) if self._is(x, got)]
            again = call.of(self.target)[found[0]] if found else None
            index = f"[{found[0]}]" if found else ""
        else:
            again, index = call.of(self.target) if self._is(call.answer, got) else None, ""
        text = self._call(call)
        if again is None or not text or not self._is(again, got) or _close(got, want, within):
            return []
        *arrays, expression = text
        return [
            *imported(self.origin, IMPORTS[self.library.name]),
            *arrays,
            f"got = {NUMBERS[self.library.name].format(expression + index)}",
            f"want = {literal(want)}",
            f"within = {literal(within)}",
            PRINT,
            f"raise SystemExit(not {CLOSE})",
        ]

    def _call(self, call: Called) -> list[str]:
        """The lines that make its arrays, and the call itself; none where it cannot be written."""
        whose, lines, words, gap = self.origin.rpartition(":")[2], [], [], False
        for name, parameter in call.signature.parameters.items():
            gap |= name not in call.given
            for passed, x in _each(name, parameter, call.given):
                text, is_array = self._argument(x)
                if not text:
                    return []
                if is_array:
                    variable = f"{passed}_" if passed in (*TAKEN, whose) else passed
                    lines.append(f"{variable} = {text}")
                    text = variable
                words.append(text if parameter.kind in PLACED and not gap else f"{passed}={text}")
        return [*lines, f"{whose}{call.name}({', '.join(words)})"]

    def _argument(self, x: Any) -> tuple[str, bool]:
        """What is given as source text, "" where it has none, and whether it is an array."""
        dtype = self.library.dtype_of(x)
        if dtype is None:
            return _option(x), False
        make, module = MADE[self.library.name]
        kind = next((kind for kind in ("bool", "int") if dtype.startswith(kind)), "float")
        numbers = self.library.get(x).astype(kind)
        return literal(numbers, make, [f"dtype={module}.{dtype}"]), True

    def _is(self, part: Any, got: Array) -> bool:
        """Whether these are the numbers that a comparison got."""
        if self.library.dtype_of(part) is None:
            return False
        numbers = self.library.get(part)
        return numbers.shape == got.shape and np.array_equal(numbers, got, equal_nan=True)


def plain(clause: Clause, raw: Subject, request: Request, problem: Any) -> list[str]:
    """The lines of a script that makes one call, which is wrong by itself; none if there is none.

    raw: a record of what is judged, which knows where that is imported from.
    """
    target = named(raw.origin)
    if not inspect.isfunction(target):
        return []
    tape, asked = Tape(), replace(request, about=raw.about, target=raw.origin)
    try:
        library = library_of(target, request.backend, request.device)
        record = load(tape.of(target), asked, tried=False)
        subject = kind_of(raw.about).under(record, request.conventions)
        violation = broken(clause, subject, problem)
        if violation is None or not violation.compared:
            return []
        with library.quiet(problem.dtype), refusing():
            fresh = resolved(raw.origin) if ".py:" in raw.origin else target
            writer = Writer(library, raw.origin, fresh)
            found = (writer.script(x, *violation.compared) for x in tape.calls)
            return next((lines for lines in found if lines), [])
    except (Unsuitable, Refused, TypeError, ValueError):  # it cannot be called like this
        return []


def _each(name: str, parameter: inspect.Parameter, given: Mapping[str, Any]) -> Any:
    """What is given for a parameter, which may stand for several, or for none."""
    if name not in given:
        return []
    if parameter.kind is parameter.VAR_KEYWORD:
        return given[name].items()
    if parameter.kind is parameter.VAR_POSITIONAL:
        return ((f"{name}_{place}", x) for place, x in enumerate(given[name]))
    return [(name, given[name])]


def _option(x: Any) -> str:
    """What is no array, as source text; "" where it has none."""
    if isinstance(x, np.dtype) or type(x).__module__ == "torch":
        return f"np.dtype({str(x)!r})" if isinstance(x, np.dtype) else str(x)
    if isinstance(x, float) and not math.isfinite(x):
        return f"float({str(x)!r})"
    return repr(x) if x is None or isinstance(x, bool | int | float | str) else ""


def _close(got: Array, want: Array, within: Array) -> bool:
    """Whether a script, in float64, sees no difference."""
    one, other, atol = (x.astype(float) for x in (got, want, within))
    return bool((np.isclose(one, other, rtol=0, atol=atol, equal_nan=True)).all())
