"""A failure as a call that returns an array of another dtype than was wanted."""

from itertools import product

from spec.backends.library import Library
from spec.backends.results import WrongDtype
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
    if not tape.calls:
        return []
    found = parts(library, tape.calls[-1].answer)
    few = [x for x in tape.leading(len(tape.calls) - 1) if len(x) <= most]
    wrong = [(part, x) for part, x in found if library.dtype_of(x) == violation.got]
    for (part, x), needed in product(wrong, few):
        again = part_of(caller.again(tape, needed)[0], part)
        if library.dtype_of(again) == violation.got:
            lines, call_text, _ = caller.written(tape, needed)
            got = f"got = str({said(call_text, part)}.dtype)"
            want = f"want = {str(x.dtype).replace(violation.got, violation.want)!r}"
            return [*lines, got, want, PRINT, "raise SystemExit(got != want)"]
    return []
