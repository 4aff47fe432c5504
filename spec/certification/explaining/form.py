"""A failure as a call that returns an array of another dtype, or shape, than was wanted."""

from collections.abc import Callable
from itertools import product
from typing import Any

from spec.backends.library import Library
from spec.backends.results import WrongArray, WrongDtype
from spec.certification.explaining.again import Caller
from spec.certification.explaining.parts import part_of, parts, said
from spec.certification.explaining.tape import Tape

PRINT = 'print(f"got {got}\\nwant {want}")'


def of_another_dtype(
    library: Library, caller: Caller, tape: Tape, violation: WrongDtype, most: int
) -> list[str]:
    """The lines of the last call, and of the dtype of what it returns; none if it has another one.

    most: calls that lead to it.
    """

    def named(x: Any) -> str:
        return str(x.dtype).replace(violation.got, violation.want)

    def wrong(x: Any) -> bool:
        return library.dtype_of(x) == violation.got

    return _ending(library, caller, tape, most, "str({}.dtype)", wrong, named)


def of_another_shape(
    library: Library, caller: Caller, tape: Tape, violation: WrongArray, most: int
) -> list[str]:
    """The same for the shape."""

    def wrong(x: Any) -> bool:
        return violation.got is not None and tuple(x.shape) == violation.got

    return _ending(library, caller, tape, most, "tuple({}.shape)", wrong, lambda _: violation.want)


def _ending(
    library: Library,
    caller: Caller,
    tape: Tape,
    most: int,
    looked: str,
    wrong: Callable[[Any], bool],
    want: Callable[[Any], Any],
) -> list[str]:
    if not tape.calls:
        return []
    found = parts(library, tape.calls[-1].answer)
    few = [x for x in tape.leading(len(tape.calls) - 1) if len(x) <= most]
    for (part, x), needed in product([y for y in found if wrong(y[1])], few):
        if wrong(part_of(caller.again(tape, needed)[0], part)):
            lines, call, _ = caller.written(tape, needed)
            got = f"got = {looked.format(said(call, part))}"
            return [*lines, got, f"want = {want(x)!r}", PRINT, "raise SystemExit(got != want)"]
    return []
