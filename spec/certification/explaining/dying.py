"""A failure as the plain call that kills its process, or never returns.

Each call that a clause makes is made in a fork of this process first.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from spec.certification.explaining.again import MOST, Caller
from spec.certification.explaining.called import Called
from spec.certification.explaining.relation import Put
from spec.certification.explaining.tape import Tape
from spec.certification.target.ward import Died, alone


class Last(Tape):
    """The calls of a program up to the one that kills its process.

    fate: how it ends, if it was met.
    """

    fate = ""

    def _asked(self, call: Called, ask: Callable[[], Any]) -> Any:
        """The result of a call. Raises Died if it kills, and for all later calls."""
        if not self.fate:
            self.fate = _fate(ask)
            if not self.fate:
                return ask()
            self.calls.append(call)
        raise Died(self.fate)


def fatal(library: Any, caller: Caller, put: Put) -> list[str]:  # noqa: ARG001 - one of the ways
    """The lines of a script with the call that kills; empty if no plain call does."""
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
    """How a call ends its process; "" if it returns."""

    def asked() -> None:
        ask()

    try:
        alone(asked)
    except Died as death:
        return str(death)
    return ""
