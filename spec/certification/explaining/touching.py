"""A failure as a call that changes an array, an argument or an earlier result, or that raises."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from spec.backends.library import Library
from spec.backends.results import Miswritten
from spec.backends.texts import OVERLAP, changing, comparing, sharing
from spec.certification.explaining.again import OUT, Caller
from spec.certification.explaining.parts import Part, parts, said
from spec.certification.explaining.relation import Put
from spec.certification.explaining.tape import Tape
from spec.written import NUMBERS

End = Callable[[str, str, str], list[str]]  # of a script: of a library, a call and an array


class Touch(NamedTuple):
    """A change of an array by a call.

    name: of the array. by: the part of the result that shares its memory. kept: the position of the
    earlier call that returned it, if one did.
    """

    name: str
    end: End
    by: Part = ()
    kept: int | None = None


def touched(library: Library, caller: Caller, put: Put, tape: Tape, most: int) -> list[str]:
    """The lines of a script with a call that writes into an array, or returns its memory.

    Empty if that is not the failure, or if the library cannot express it. most: the number of calls
    that may lead to it.
    """
    if library.name not in OVERLAP or put(Tape(undoing=True)) is not None:
        return []
    every = (x for place in range(len(tape.calls)) for x in tape.leading(place))
    for needed in (x for x in every if len(x) <= most):
        for name, end, by, kept in _touches(library, caller, tape, needed):
            lines, call, names = caller.written(tape, needed, kept)
            return [*lines, *end(library.name, said(call, by), names[name])]
    return []


def _touches(library: Library, caller: Caller, tape: Tape, needed: list[int]) -> Iterator[Touch]:
    """Yield the changes that the last of some calls makes to arrays."""
    *earlier, last = needed
    returned: dict[int, tuple[Any, Any]] = {}
    calls = caller.one_by_one(tape, needed)
    for place, (x, _) in zip(earlier, calls, strict=False):
        if library.dtype_of(x) is not None:
            returned[place] = x, library.copied(x)
    answer, left = next(calls)
    for place, (x, before) in returned.items():
        if not library.same(x, before):
            yield Touch(OUT, changing, kept=place)
        shared = (part for part, y in parts(library, answer) if library.overlap(y, x))
        yield from (Touch(OUT, sharing, part, place) for part in shared)
    given = tape.calls[last].given
    for name in (x for x in left if library.dtype_of(left[x]) is not None):
        if not library.same(left[name], given[name]):
            yield Touch(name, changing)
        for part, x in parts(library, answer):
            if library.overlap(x, left[name]):
                yield Touch(name, sharing, part)


def left(library: Library, caller: Caller, tape: Tape, violation: Miswritten) -> list[str]:
    """The lines with the last call, after which an argument has the wrong numbers; or none."""
    got, want, within = violation.compared
    for needed in tape.leading(len(tape.calls) - 1):
        arguments = caller.again(tape, needed)[1]
        for name, x in arguments.items():
            if library.dtype_of(x) is not None and np.array_equal(library.get(x), got, True):
                lines, call, names = caller.written(tape, needed)
                numbers = NUMBERS[library.name].format(names[name])
                return [*lines, call, *comparing(numbers, want, within)]
    return []


def raising(caller: Caller, tape: Tape, most: int) -> list[str]:
    """The lines with the last call, which raises an exception; empty if it does not again.

    most: the number of calls that may lead to it.
    """
    *_, last = tape.calls
    for needed in (x for x in tape.leading(len(tape.calls) - 1) if len(x) <= most):
        try:
            caller.again(tape, needed)
        except Exception as error:  # a runner makes a new class for each
            if type(error).__name__ == type(last.answer).__name__:
                lines, call, _ = caller.written(tape, needed)
                return [*lines, call]
    return []
