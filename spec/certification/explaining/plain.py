"""A failure as a plain call of the target, if one of those that the clause made shows it.

The target is plugged in anew as one that writes down what it is asked (`tape`). Where a comparison
got what a call returned, or a part of that, and the same call of another target returns what is
as wrong, a script can make that call: after those that led to it, where it is one of an object.
Or the comparison got a sum of such numbers (`summing`). It needs to know nothing of the kind.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spec.backends.calling import library_of
from spec.backends.library import Library
from spec.backends.results import refusing
from spec.certification.explaining.again import Caller
from spec.certification.explaining.summing import Seen, Sum, summed
from spec.certification.explaining.tape import Tape
from spec.certification.settings import Request
from spec.certification.target.loading import load
from spec.clause import Clause
from spec.comparison import Violation, close
from spec.kinds import kind_of
from spec.notation import Array
from spec.subject import Subject, named
from spec.trial import broken
from spec.written import CLOSE, NUMBERS, OVERLAP, PRINT, changing, literal, sharing

MOST = 8  # calls that lead to one; more are beyond a page, and better told by the clause
MANY = 250  # numbers that every format has and that are not alike
FIRST = (2.0, 3.0)  # of them
End = Callable[[str, str, str], list[str]]  # of a script: of a library, a call and an array
Part = tuple[int, ...]  # the place of an array in an answer, or of a number in it; () for all


def plain(
    clause: Clause, raw: Subject, request: Request, problem: Any, before: Any = None
) -> list[str]:
    """The lines of a script that makes a call which is wrong by itself; none if there is none.

    raw: a record of what is judged, which knows where that is imported from. before: what it has
    to be asked first, if anything: then the script makes all calls that were made.
    """
    target = named(raw.origin)
    if not callable(target) or (raw.compiled and isinstance(target, type)):
        return []  # nobody but its compiler sees what a compiled object is asked
    asked = replace(request, about=raw.about, target=raw.origin, compiled=None)

    def put(tape: Tape) -> Violation | None:
        with tape:
            record = load(tape.of(caller.as_run(target)), asked, tried=False)
            record = kind_of(raw.about).under(record, request.conventions)
            if before is not None:
                tape.since = len(tape.calls)
                broken(clause, record, before)
            return broken(clause, record, problem)

    try:
        library = library_of(target, request.backend, request.device)
        caller = Caller(library, raw.origin, raw.compiled)
        with library.quiet(problem.dtype), refusing():
            return Search(library, caller, put).script()
    except Exception:  # a stranger's program, called as it was not meant to be: no script of it
        return []


@dataclass(frozen=True)
class Search:
    """The search for a call that is wrong by itself.

    put: has a target that is written down judged.
    """

    library: Library
    caller: Caller
    put: Callable[[Tape], Violation | None]

    def script(self) -> list[str]:
        """The lines of the script, or none."""
        tape = Tape()
        violation = self.put(tape)
        if violation is None:
            return []
        if not violation.compared or violation.place is None:
            return self._touched(tape)
        for shown in (self._shown, self._added_up):
            for place, call in enumerate(tape.calls):
                for part in self._parts(call.answer):
                    if lines := shown(tape, place, part, violation):
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

        def wrong(answer: Array) -> bool:
            return np.array_equal(answer[entry], got, equal_nan=True)

        needed = self._needed(tape, place, part, wrong)
        entries = f"{[*entry]}" if entry else ""
        return self._lines(tape, needed, part, entries, want, within) if needed else []

    def _added_up(self, tape: Tape, place: int, part: Part, violation: Violation) -> list[str]:
        """The same of a call whose numbers, added up, are what was compared."""
        assert violation.place is not None
        at, right = violation.place.index, self.library.get(_at(tape.calls[place].answer, part))

        def asked(numbers: Array) -> tuple[Array, Seen] | None:
            put, seen = self._seen(tape, place, part, numbers)
            if seen is None or seen[0].shape != violation.compared[0].shape:
                return None
            got, want, within = (np.asarray(x[at], dtype=float) for x in seen)
            return self.library.get(put), (got, want, within)

        made = summed(asked, right)
        if made is None:
            return []

        def wrong(answer: Array) -> bool:
            found = np.asarray(made.of(answer))
            return not close(found, made.want, made.within)

        needed = self._needed(tape, place, part, wrong)
        return self._lines(tape, needed, part, made, made.want, made.within) if needed else []

    def _needed(
        self, tape: Tape, place: int, part: Part, wrong: Callable[[Array], bool]
    ) -> list[int]:
        """The calls that lead to one which is wrong once more; none if there are none or many."""
        for needed in tape.leading(place):
            if len(needed) > MOST:
                break
            if wrong(self.library.get(_at(self.caller.again(tape, needed)[0], part))):
                return needed
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
        for first in FIRST:  # of the one, or of the other, it may be that they are right
            numbers = (np.arange(right.size).reshape(right.shape) % MANY) + first
            seen = self._got(tape, place, part, numbers)
            if seen is not None:
                break
        if seen is None or seen.shape != got.shape:
            return None
        if np.array_equal(seen, numbers):
            return (), violation.compared
        entries = np.argwhere(numbers == seen[at])
        if len(entries) != 1 and right.shape == got.shape:  # what others do to it may be nothing
            numbers = np.where(numbers == numbers[at], numbers, right)
            seen = self._got(tape, place, part, numbers)
            entries = np.argwhere(numbers == seen[at]) if seen is not None else entries
        if len(entries) != 1 or got[at] == numbers[tuple(entries[0])]:
            return None
        return tuple(int(i) for i in entries[0]), [np.asarray(x[at]) for x in violation.compared]

    def _got(self, tape: Tape, place: int, part: Part, numbers: Array) -> Array | None:
        """What is compared where a call returns these numbers."""
        _, compared = self._seen(tape, place, part, numbers)
        return None if compared is None else compared[0]

    def _seen(
        self, tape: Tape, place: int, part: Part, numbers: Array
    ) -> tuple[Any, tuple[Array, ...] | None]:
        """These numbers as a call returns them, and what is then got, wanted and allowed."""
        answer = tape.calls[place].answer
        dtype = self.library.dtype_of(_at(answer, part))
        assert dtype is not None  # it is an array
        put = instead = self.library.placed(numbers, dtype)[1]
        if part:
            instead = type(answer)([*answer[: part[0]], instead, *answer[part[0] + 1 :]])
        violation = self.put(Tape(place, instead))
        return put, violation.compared if violation is not None and violation.compared else None

    def _lines(
        self, tape: Tape, needed: list[int], part: Part, of: str | Sum, want: Array, within: Array
    ) -> list[str]:
        """The lines of a script: calls, and what is got of the last one, entries of it or a sum."""
        lines, call, _ = self.caller.written(tape, needed)
        numbers = NUMBERS[self.library.name].format(f"{call}[{part[0]}]" if part else call)
        got = [f"got = {numbers}{of}"]
        return [
            *lines,
            *(got if isinstance(of, str) else [f"out = {numbers}", f"got = {of.text}"]),
            f"want = {literal(want)}",
            f"within = {literal(within)}",
            PRINT,
            f"raise SystemExit(not {CLOSE})",
        ]

    def _touched(self, tape: Tape) -> list[str]:
        """The lines of a call that writes into what it is given, or returns memory of that.

        None if that is not what was seen, or if no library has a word for it.
        """
        if self.library.name not in OVERLAP or self.put(Tape(undoing=True)) is not None:
            return []
        every = (x for place in range(len(tape.calls)) for x in tape.leading(place))
        for needed in (x for x in every if len(x) <= MOST):
            for name, end in self._touches(tape, needed):
                lines, call, names = self.caller.written(tape, needed)
                return [*lines, *end(self.library.name, call, names[name])]
        return []

    def _touches(self, tape: Tape, needed: list[int]) -> Iterator[tuple[str, End]]:
        """What the last of some calls does to each array that it is given, if anything."""
        answer, left = self.caller.again(tape, needed)
        given, is_array = tape.calls[needed[-1]].given, self.library.dtype_of(answer) is not None
        for name in (x for x in left if self.library.dtype_of(left[x]) is not None):
            if not self.library.same(left[name], given[name]):
                yield name, changing
            elif is_array and self.library.overlap(answer, left[name]):
                yield name, sharing


def _at(answer: Any, part: Part) -> Any:
    """A part of an answer, or all of it."""
    return answer[part[0]] if part else answer
