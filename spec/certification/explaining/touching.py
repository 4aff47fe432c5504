"""A failure as a call that changes an array: an argument, or an earlier result."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from spec.backends.library import Library
from spec.certification.explaining.again import OUT, Caller
from spec.certification.explaining.parts import Part, parts, said
from spec.certification.explaining.relation import Put
from spec.certification.explaining.tape import Tape
from spec.written import OVERLAP, changing, sharing

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
    yield from (
        Touch(OUT, changing, kept=place)
        for place, (x, before) in returned.items()
        if not library.same(x, before)
    )
    given = tape.calls[last].given
    for name in (x for x in left if library.dtype_of(left[x]) is not None):
        if not library.same(left[name], given[name]):
            yield Touch(name, changing)
        for part, x in parts(library, answer):
            if library.overlap(x, left[name]):
                yield Touch(name, sharing, part)
