"""A failure as the plain call of which a process dies, or that never comes to its end.

Each call that a clause makes is made in a copy of this process first.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from spec.certification.explaining.again import MOST, Caller
from spec.certification.explaining.relation import Put
from spec.certification.explaining.tape import Called, Tape
from spec.certification.target.ward import Died, alone


class Last(Tape):
    """The calls of a program up to the one that kills.

    fate: what it does, if it was met.
    """

    fate = ""

    def _asked(self, call: Called, ask: Callable[[], Any]) -> Any:
        """What a call returns, unless it kills. Raises Died, of that and of all later ones."""
        if not self.fate:
            self.fate = _fate(ask)
            if not self.fate:
                return ask()
            self.calls.append(call)
        raise Died(self.fate)


def fatal(library: Any, caller: Caller, put: Put) -> list[str]:  # noqa: ARG001 - one of the ways
    """The lines of a script that makes the call which kills; none if no plain call does."""
    tape = Last()
    put(tape)
    if not tape.fate:
        return []
    for needed in tape.leading(len(tape.calls) - 1):
        if len(needed) <= MOST and _fate(partial(caller.again, tape, needed)) == tape.fate:
            lines, call, _ = caller.written(tape, needed)
            return [*lines, f"print({call})  # {tape.fate}"]
    return []


def _fate(ask: Callable[[], Any]) -> str:
    """How a call kills; "" if it does not."""

    def asked() -> None:
        ask()

    try:
        alone(asked)
    except Died as death:
        return str(death)
    return ""
