"""A failure as a plain call of the target, if one of those that the clause made shows it.

The target is plugged in again, by a wrapper that records its calls (`tape`). Where a comparison
got what a call returned, or a part of that, and the same call of another target returns what is
as wrong, a script can make that call: after those that led to it, where it is one of an object.
Or the comparison got a sum of such numbers (`summing`), or what the clause makes of the answers to
several calls (`relation`). Or no number is wrong, but an array is another afterwards (`touching`),
or of another dtype (`form`). It needs to know nothing of the kind.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spec.backends.calling import library_of
from spec.backends.elsewhere import home
from spec.backends.library import Library
from spec.backends.results import WrongDtype, refusing
from spec.certification.explaining.again import MOST, Caller
from spec.certification.explaining.dying import fatal
from spec.certification.explaining.form import of_another_dtype
from spec.certification.explaining.parts import Part, part_of, parts, said, with_part
from spec.certification.explaining.relation import Put, Seeing, related
from spec.certification.explaining.summing import Seen, Sum, summed
from spec.certification.explaining.tape import Tape
from spec.certification.explaining.touching import touched
from spec.certification.explaining.writer import PAGE
from spec.certification.settings import Request
from spec.certification.target.loading import load
from spec.clause import Clause
from spec.comparison import Violation, close
from spec.kinds import kind_of
from spec.notation import Array
from spec.subject import Subject, named
from spec.trial import broken
from spec.written import CLOSE, NUMBERS, PRINT, literal

MANY = 250  # numbers that every format has and that are not alike
FIRST = (2.0, 3.0)  # of them


def plain(
    clause: Clause,
    raw: Subject,
    request: Request,
    problem: Any,
    before: Any = None,
    kills: bool = False,
) -> list[str]:
    """The lines of a script with a call that is wrong by itself; empty if there is none.

    raw: a record of the target, with its place of import. before: a problem that it gets first, if
    any: then the script makes all calls. kills: the call ends its process.
    """
    there = home()
    target = named(raw.origin) if there is None else there.root
    if not callable(target) or (raw.compiled and isinstance(target, type)):
        return []  # nobody but its compiler sees what a compiled object is asked
    asked = replace(request, kind=raw.about, target=raw.origin, compiled=None)
    library = library_of(target, request.backend, request.device)
    caller = Caller(library, raw.origin, raw.compiled)

    def put(tape: Tape, seeing: Seeing | None = None) -> Violation | None:
        with tape:
            record = load(tape.of(caller.as_run(target)), asked, tried=False)
            record = kind_of(raw.about).conventions.under(record, request.conventions)
            if before is not None:
                tape.since = len(tape.calls)
                broken(clause, record, before)
            return broken(clause, record.through(seeing) if seeing else record, problem)

    for way in (fatal,) if kills else (searched, related):
        # A stranger's program may be called as it was not meant to be.
        with suppress(Exception), library.quiet(problem.dtype), refusing():
            if lines := way(library, caller, put):
                return lines
    return []


def searched(library: Library, caller: Caller, put: Put) -> list[str]:
    """The lines of a script with one wrong call; empty if there is none."""
    return Search(library, caller, put).script()


@dataclass(frozen=True)
class Search:
    """The search for a call that is wrong by itself.

    put: runs the clause on a recorded target, whose record may be wrapped.
    """

    library: Library
    caller: Caller
    put: Put

    def script(self) -> list[str]:
        """The lines of the script; empty if there is none."""
        tape = Tape()
        violation = self.put(tape)
        if violation is None:
            return []
        tape.joined(self.library.alike)
        if isinstance(violation, WrongDtype):
            return of_another_dtype(self.library, self.caller, tape, violation, MOST)
        if not violation.compared or violation.relation:
            return touched(self.library, self.caller, self.put, tape, MOST)
        for shown in (self._shown, self._added_up):
            for place, call in enumerate(tape.calls):
                for part, _ in parts(self.library, call.answer):
                    if lines := shown(tape, place, part, violation):
                        return lines
        return []

    def _shown(self, tape: Tape, place: int, part: Part, violation: Violation) -> list[str]:
        """The lines of a call and those that lead to it; empty if it was not compared."""
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
        """The same for a call whose numbers were compared as a sum."""
        assert violation.place is not None
        at, right = violation.place.index, self.library.get(part_of(tape.calls[place].answer, part))

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
        """The calls that lead to one which is wrong again; empty if none, or too many, do."""
        for needed in tape.leading(place):
            if len(needed) > MOST:
                break
            if wrong(self.library.get(part_of(self.caller.again(tape, needed)[0], part))):
                return needed
        return []

    def _compared(
        self, tape: Tape, place: int, part: Part, violation: Violation
    ) -> tuple[Part, Sequence[Array]] | None:
        """The compared number of a result, or all of it; with got, want and bound.

        Other numbers are returned instead, to see where they appear, because results with many
        zeros, as those of small problems, look alike.
        """
        assert violation.place is not None
        got, at = violation.compared[0], violation.place.index
        right = self.library.get(part_of(tape.calls[place].answer, part))
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
        """The compared array if a call returns these numbers."""
        _, compared = self._seen(tape, place, part, numbers)
        return None if compared is None else compared[0]

    def _seen(
        self, tape: Tape, place: int, part: Part, numbers: Array
    ) -> tuple[Any, tuple[Array, ...] | None]:
        """These numbers as the result of a call, and then got, want and bound."""
        answer = tape.calls[place].answer
        dtype = self.library.dtype_of(part_of(answer, part))
        assert dtype is not None  # it is an array
        put = self.library.placed(numbers, dtype)[1]
        violation = self.put(Tape(place, with_part(answer, part, put)))
        if violation is None or violation.relation or not violation.compared:
            return put, None
        return put, violation.compared

    def _lines(
        self, tape: Tape, needed: list[int], part: Part, of: str | Sum, want: Array, within: Array
    ) -> list[str]:
        """The lines of a script: calls, and entries or a sum of the last result."""
        lines, call, _ = self.caller.written(tape, needed)
        numbers = NUMBERS[self.library.name].format(said(call, part))
        got = [f"got = {numbers}{of}"]
        script = [
            *lines,
            *(got if isinstance(of, str) else [f"out = {numbers}", f"got = {of.text}"]),
            f"want = {literal(want)}",
            f"within = {literal(within)}",
            PRINT,
            f"raise SystemExit(not {CLOSE})",
        ]
        return script if len(script) <= PAGE else []
