"""The search for a call of the target that is wrong by itself.

Where a comparison got what a call returned, or a part of that, and the same call of another target
returns what is as wrong, a script can make that call: after those that led to it, where it is one
of an object. Or the comparison got a sum of such numbers (`summing`). Or no number is wrong, but an
array is another afterwards (`touching`), or of another form (`form`), or the call raises.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import Any

import numpy as np

from spec.backends.library import Library
from spec.backends.results import Miswritten, WrongArray, WrongDtype
from spec.backends.texts import CLOSE, PRINT, comparing
from spec.certification.explaining.again import MOST, Caller
from spec.certification.explaining.called import tidied
from spec.certification.explaining.form import of_another_dtype, of_another_shape
from spec.certification.explaining.parts import Part, other_numbers, part_of, parts, said, with_part
from spec.certification.explaining.relation import Put
from spec.certification.explaining.summing import Seen, Sum, summed
from spec.certification.explaining.tape import Tape
from spec.certification.explaining.touching import left, raising, touched
from spec.certification.explaining.writer import PAGE
from spec.comparison import Violation, close
from spec.notation import Array
from spec.written import NUMBERS

Spot = tuple[int, Part, Array]  # of a result: the position of its call, a part and its numbers
Settled = Callable[[], bool]
TRIALS = 3  # what happens so often in a row is taken for a rule
TRIES = 100  # what never happens in so many is not waited for
SECONDS = 2.0  # nor is it longer than this


def searched(library: Library, caller: Caller, put: Put) -> list[str]:
    """The lines of a script with one wrong call; empty if there is none."""
    return Search(library, caller, put).script()


def at_times(library: Library, caller: Caller, put: Put) -> list[str]:
    """The same for a call that is wrong at times, which is made until it is."""
    return Search(library, caller, put, TRIES).script()


@dataclass(frozen=True)
class Search:
    """The search for a call that is wrong by itself.

    put: runs the clause on a recorded target, whose record may be wrapped.
    tries: how often a call may have to be made; if once, it is always wrong.
    """

    library: Library
    caller: Caller
    put: Put
    tries: int = 1

    def script(self) -> list[str]:
        """The lines of the script; empty if there is none."""
        for _ in self._tries():
            tape = Tape()
            violation = self.put(tape)
            if violation is not None:
                break
        else:
            return []
        tape.joined(self.library.alike)
        if tidy := tidied(tape.calls, self.library):
            loose, tape.calls = tape.calls, tidy
            if lines := self._found(tape, violation):
                return lines
            tape.calls = loose
        return self._found(tape, violation)

    def _found(self, tape: Tape, violation: Violation) -> list[str]:
        if isinstance(violation, WrongDtype):
            return of_another_dtype(self.library, self.caller, tape, violation, MOST)
        if isinstance(violation, WrongArray):
            return of_another_shape(self.library, self.caller, tape, violation, MOST)
        if not violation.compared and tape.calls and isinstance(tape.calls[-1].answer, Exception):
            return raising(self.caller, tape, MOST)
        if not violation.compared or violation.relation:
            return touched(self.library, self.caller, self.put, tape, MOST)
        if isinstance(violation, Miswritten):
            return left(self.library, self.caller, tape, violation)
        # All numbers at once: once calls are made again, a runner may have them no more.
        known = [
            (place, part, self.library.get(x))
            for place, call in enumerate(tape.calls)
            for part, x in parts(self.library, call.answer)
        ]
        for shown in (self._shown, self._added_up):
            for spot in known:
                others = [x for x in known if x is not spot]
                settled = partial(self._settled, tape, others, violation)
                if lines := shown(tape, spot, violation, settled):
                    return lines
        return []

    def _shown(self, tape: Tape, at: Spot, violation: Violation, settled: Settled) -> list[str]:
        """The lines of a call and those that lead to it; empty if it was not compared."""
        place, part, right = at
        known = self._compared(tape, place, part, right, violation)
        if known is None:
            return []
        entry, (got, want, within) = known
        if close(*(x.astype(float) for x in (got, want, within))):  # in float64, as the script is
            return []
        if not settled():
            return []

        def wrong(answer: Array) -> bool:
            return np.array_equal(answer[entry], got, equal_nan=True)

        needed = self._needed(tape, place, part, wrong)
        entries = f"{[*entry]}" if entry else ""
        return self._lines(tape, needed, part, entries, want, within) if needed else []

    def _added_up(self, tape: Tape, at: Spot, violation: Violation, settled: Settled) -> list[str]:
        """The same for a call whose numbers were compared as a sum."""
        place, part, right = at
        assert violation.place is not None
        index = violation.place.index

        def asked(numbers: Array) -> tuple[Array, Seen] | None:
            put, seen = self._seen(tape, place, part, numbers)
            if seen is None or seen[0].shape != violation.compared[0].shape:
                return None
            got, want, within = (np.asarray(x[index], dtype=float) for x in seen)
            return self.library.get(put), (got, want, within)

        made = summed(asked, right)
        if made is None or not settled():
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

        def once(needed: list[int]) -> bool:
            return wrong(self.library.get(part_of(self.caller.again(tape, needed)[0], part)))

        for needed in tape.leading(place):
            if len(needed) > MOST:
                break
            if self.tries > 1 and any(once(needed) for _ in self._tries()):
                return needed
            if self.tries == 1 and all(once(needed) for _ in range(TRIALS)):
                return needed
        return []

    def _tries(self) -> Iterator[int]:
        """Count tries, as long as there is time."""
        start = time.monotonic()
        yield from takewhile(lambda _: time.monotonic() - start < SECONDS, range(self.tries))

    def _compared(
        self, tape: Tape, place: int, part: Part, right: Array, violation: Violation
    ) -> tuple[Part, Sequence[Array]] | None:
        """The compared number of a result, or all of it; with got, want and bound.

        Other numbers are returned instead, to see where they appear, because results with many
        zeros, as those of small problems, look alike.
        """
        assert violation.place is not None
        (got, want, _), at = violation.compared, violation.place.index
        for numbers in other_numbers(right, at if right.shape == got.shape else None):
            _, compared = self._seen(tape, place, part, numbers)
            if compared is None or compared[0].shape != got.shape:
                continue
            seen, wanted, _ = compared
            if not np.array_equal(wanted[at], want[at], equal_nan=True):
                continue
            if np.array_equal(seen, numbers) and np.array_equal(right, got, equal_nan=True):
                return (), violation.compared
            entries = np.argwhere(numbers == seen[at])
            entry = tuple(map(int, entries[0])) if len(entries) == 1 else None
            if entry is None or numbers[entry] == right[entry]:
                continue
            if np.array_equal(right[entry], got[at], equal_nan=True):
                return entry, [np.asarray(x[at]) for x in violation.compared]
        return None

    def _settled(self, tape: Tape, others: Sequence[Spot], violation: Violation) -> bool:
        """Whether the expected value is the same where any other array is another one."""
        got, want, _ = violation.compared
        for place, part, right in others:
            _, seen = self._seen(tape, place, part, right + 1 + np.abs(right))
            # If another number is compared, it is another comparison.
            alike = seen is not None and np.array_equal(seen[0], got, equal_nan=True)
            if seen is None or (alike and not np.array_equal(seen[1], want, equal_nan=True)):
                return False
        return True

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
        made, text = [], f"{numbers}{of}"
        if isinstance(of, Sum):
            made, text = [f"out = {numbers}"], of.text
        got, *ends = comparing(text, want, within)
        script = [*lines, *made, got, *ends]
        if self.tries > 1:
            loop = [*made, got, f"if not {CLOSE}:", f"    {PRINT}", "    raise SystemExit(1)"]
            repeated = [f"for _ in range({self.tries}):", *(f"    {line}" for line in loop)]
            script = [*lines, *ends[:2], *repeated]
        return script if len(script) <= PAGE else []
