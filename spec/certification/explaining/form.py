"""A failure as a call that returns an array of another dtype than was wanted."""

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
    for place, call in [*enumerate(tape.calls)][-1:]:
        for part, x in parts(library, call.answer):
            if library.dtype_of(x) != violation.got:
                continue
            want = str(x.dtype).replace(violation.got, violation.want)
            for needed in (few for few in tape.leading(place) if len(few) <= most):
                again = part_of(caller.again(tape, needed)[0], part)
                if library.dtype_of(again) == violation.got:
                    lines, call_text, _ = caller.written(tape, needed)
                    got = f"got = str({said(call_text, part)}.dtype)"
                    end = [f"want = {want!r}", PRINT, "raise SystemExit(got != want)"]
                    return [*lines, got, *end]
    return []
