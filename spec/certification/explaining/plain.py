"""A failure as a plain call of the target, if one of those that the clause made shows it.

The target is plugged in anew as one that writes down what it is asked (`tape`). Where a comparison
got what a call returned, or a part of that, and the same call of another target returns what is
as wrong, a script can make that call: after those that led to it, where it is one of an object.
It needs to know nothing of the kind.
"""

import inspect
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spec.backends.calling import BY_PLACE, library_of
from spec.backends.library import Library, Unsuitable
from spec.backends.results import refusing
from spec.certification.explaining.tape import Called, Tape, is_object
from spec.certification.settings import Request
from spec.certification.target.loading import load, resolved
from spec.clause import Clause
from spec.comparison import Violation, close
from spec.kinds import kind_of
from spec.notation import Array
from spec.subject import Subject, named
from spec.trial import broken
from spec.written import CLOSE, IMPORTS, NUMBERS, PRINT, array_of, imported, literal

MOST = 12  # calls that lead to one; who needs more is better told by the clause
TAKEN = ("np", "torch", "jax", "jnp", "sys", "got", "want", "within")
PLACED = (*BY_PLACE, inspect.Parameter.VAR_POSITIONAL)
MANY = 250  # numbers that every format has and that are not alike
Part = tuple[int, ...]  # the place of an array in an answer, or of a number in it; () for all


def plain(clause: Clause, raw: Subject, request: Request, problem: Any) -> list[str]:
    """The lines of a script that makes a call which is wrong by itself; none if there is none.

    raw: a record of what is judged, which knows where that is imported from.
    """
    target = named(raw.origin)
    if not callable(target):
        return []
    asked = replace(request, about=raw.about, target=raw.origin)

    def put(tape: Tape) -> Violation | None:
        with tape:
            record = load(tape.of(target), asked, tried=False)
            return broken(clause, kind_of(raw.about).under(record, request.conventions), problem)

    try:
        library = library_of(target, request.backend, request.device)
        search = Search(library, raw.origin, put)
        with library.quiet(problem.dtype), refusing():
            return search.script()
    except Exception:  # a stranger's program, called as it was not meant to be: no script of it
        return []


@dataclass(frozen=True)
class Search:
    """The search for a call that is wrong by itself.

    put: has a target that is written down judged.
    """

    library: Library
    origin: str
    put: Callable[[Tape], Violation | None]

    def script(self) -> list[str]:
        """The lines of the script, or none."""
        tape = Tape()
        violation = self.put(tape)
        if violation is None or not violation.compared or violation.place is None:
            return []
        for place, call in enumerate(tape.calls):
            for part in self._parts(call.answer):
                if lines := self._shown(tape, place, part, violation):
                    return lines
        return []

    def _parts(self, answer: Any) -> list[Part]:
        """The arrays of an answer: itself, or some of several."""
        if self.library.dtype_of(answer) is not None:
            return [()]
        several = enumerate(answer) if isinstance(answer, tuple | list) else ()
        return [(i,) for i, x in several if self.library.dtype_of(x) is not None]

    def _shown(self, tape: Tape, place: int, part: Part, violation: Violation) -> list[str]:
        """The lines that make a call and what led to it; none if that is not what was compared."""
        known = self._compared(tape, place, part, violation)
        if known is None:
            return []
        entry, (got, want, within) = known
        if close(*(x.astype(float) for x in (got, want, within))):  # in float64, as the script is
            return []
        for needed in tape.leading(place):
            if len(needed) > MOST:
                break
            again = self.library.get(_at(self._again(tape, needed), part))
            if np.array_equal(again[entry], got, equal_nan=True):
                return self._lines(tape, needed, part, entry, want, within)
        return []

    def _compared(
        self, tape: Tape, place: int, part: Part, violation: Violation
    ) -> tuple[Part, Sequence[Array]] | None:
        """Which number of an answer was compared, or all; and what was got, wanted and allowed.

        Other numbers are returned in its place, to see where they turn up: as most numbers of a
        small problem are zero, many answers are alike.
        """
        assert violation.place is not None
        got, at = violation.compared[0], violation.place.index
        right = self.library.get(_at(tape.calls[place].answer, part))
        numbers = (np.arange(right.size).reshape(right.shape) % MANY) + 2.0
        seen = self._seen(tape, place, part, numbers)
        if seen is None or seen.shape != got.shape:
            return None
        if np.array_equal(seen, numbers):
            return (), violation.compared
        entries = np.argwhere(numbers == seen[at])
        if len(entries) != 1 and right.shape == got.shape:  # what others do to it may be nothing
            numbers = np.where(numbers == numbers[at], numbers, right)
            seen = self._seen(tape, place, part, numbers)
            entries = np.argwhere(numbers == seen[at]) if seen is not None else entries
        if len(entries) != 1 or got[at] == numbers[tuple(entries[0])]:
            return None
        return tuple(int(i) for i in entries[0]), [np.asarray(x[at]) for x in violation.compared]

    def _seen(self, tape: Tape, place: int, part: Part, numbers: Array) -> Array | None:
        """What is compared where a call returns these numbers."""
        answer = tape.calls[place].answer
        dtype = self.library.dtype_of(_at(answer, part))
        assert dtype is not None  # it is an array
        instead = self.library.placed(numbers, dtype)[1]
        if part:
            instead = type(answer)([*answer[: part[0]], instead, *answer[part[0] + 1 :]])
        violation = self.put(Tape(place, instead))
        return violation.compared[0] if violation is not None and violation.compared else None

    def _lines(
        self, tape: Tape, needed: list[int], part: Part, entry: Part, want: Array, within: Array
    ) -> list[str]:
        writer = Writer(self.library, self.origin.rpartition(":")[2])
        *lines, expression = [line for x in needed for line in writer.call(x, tape.calls[x])]
        expression += f"[{part[0]}]" if part else ""
        numbers = NUMBERS[self.library.name].format(expression)
        return [
            *imported(self.origin, IMPORTS[self.library.name]),
            *lines,
            f"got = {numbers}{[*entry] if entry else ''}",
            f"want = {literal(want)}",
            f"within = {literal(within)}",
            PRINT,
            f"raise SystemExit(not {CLOSE})",
        ]

    def _again(self, tape: Tape, needed: list[int]) -> Any:
        """What the last of some calls returns of a target that was asked nothing else.

        As far as it can be had: who was imported by name knows all that it was asked.
        """
        is_file = ".py:" in self.origin
        made: dict[int | None, Any] = {None: (resolved if is_file else named)(self.origin)}
        for place in needed:
            made[place] = tape.calls[place].of(made[tape.calls[place].whose])
        return made[needed[-1]]


@dataclass
class Writer:
    """Writes calls as source text: what the target is called, and what there is by which name."""

    library: Library
    target: str
    objects: dict[int, str] = field(default_factory=dict)
    used: Counter[str] = field(default_factory=lambda: Counter(TAKEN))

    def call(self, place: int, call: Called) -> list[str]:
        """The lines that make its arrays, and the call. Raises Unsuitable: it cannot be written."""
        lines, words, gap = [], [], False
        for name, parameter in call.signature.parameters.items():
            gap |= name not in call.given
            for passed, x in _each(name, parameter, call.given):
                is_array = self.library.dtype_of(x) is not None
                text = self._new(passed) if is_array else _option(x)
                lines += [f"{text} = {self._array(x)}"] if is_array else []
                words.append(text if parameter.kind in PLACED and not gap else f"{passed}={text}")
        whose = self.target if call.whose is None else self.objects[call.whose]
        text = f"{whose}{call.name}({', '.join(words)})"
        if is_object(call.answer):
            self.objects[place] = self._new("made")
            text = f"{self.objects[place]} = {text}"
        return [*lines, text]

    def _new(self, name: str) -> str:
        """A name that nothing else has."""
        name = f"{name}_" if name == self.target.partition(".")[0] else name
        self.used[name] += 1
        return name if self.used[name] == 1 else f"{name}_{self.used[name]}"

    def _array(self, x: Any) -> str:
        dtype = self.library.dtype_of(x) or ""
        kind = next((kind for kind in ("bool", "int") if dtype.startswith(kind)), "float")
        numbers = self.library.get(x).astype(kind)
        return array_of(self.library.name, numbers, dtype, self.library.device)


def _at(answer: Any, part: Part) -> Any:
    """A part of an answer, or all of it."""
    return answer[part[0]] if part else answer


def _each(
    name: str, parameter: inspect.Parameter, given: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """What is given for a parameter, which may stand for several, or for none."""
    if name not in given:
        return
    if parameter.kind is parameter.VAR_KEYWORD:
        yield from given[name].items()
    elif parameter.kind is parameter.VAR_POSITIONAL:
        yield from ((f"{name}_{place}", x) for place, x in enumerate(given[name]))
    else:
        yield name, given[name]


def _option(x: Any) -> str:
    """What is no array, as source text. Raises Unsuitable: it has none."""
    if isinstance(x, np.dtype):
        return f"np.dtype({str(x)!r})"
    if isinstance(x, float) and not math.isfinite(x):
        return f"float({str(x)!r})"
    if x is None or isinstance(x, bool | int | float | str | np.generic):
        return repr(x)
    if type(x).__module__ == "torch":
        return str(x)
    raise Unsuitable(f"{type(x).__name__} is not written out")
