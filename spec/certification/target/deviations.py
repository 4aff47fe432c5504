"""Clauses that a subject is known to fail, or that the user declares.

They belong to the function that is called, not to its name, and stand in the chapters or are
declared: a target cannot bring its own, and no definition deviates. A deviation of the very
function is strict: it is reported as soon as the clause passes again.

A fault that breaks one clause always may break others at times, if they happen to draw such a
problem. These are not listed, as other faults in them would be excused too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from spec.abilities import Targets
from spec.backends.library import Elsewhere
from spec.certification.target.following import is_nothing_but
from spec.subject import named


@dataclass(frozen=True)
class Deviations:
    """The clauses that one subject is known to fail.

    reasons: number of a clause -> why. strict: the numbers that must fail. A function that calls
    the known one with arguments of its own may avoid the fault.
    """

    reasons: Mapping[str, str]
    strict: tuple[str, ...] = ()

    def and_declared(self, reasons: Mapping[str, str]) -> Deviations:
        """These and the declared ones, whose reasons say that they are only declared."""
        said = {number: f"declared: {' '.join(x.split())}" for number, x in reasons.items()}
        return replace(self, reasons={**self.reasons, **said}, strict=(*self.strict, *said))


def _is(program: Any, origin: str) -> bool:
    """Whether to call a program is to call the one of an origin."""
    if isinstance(program, Elsewhere):
        return _named(program, origin)
    return is_nothing_but(program, named(origin))


def _named(program: Any, origin: str) -> bool:
    """Whether a program is the one of an origin; one elsewhere by the name that a person gave."""
    if isinstance(program, Elsewhere):
        return program.target == origin
    return program is named(origin)


def known(targets: Targets, program: Any, device: str) -> Deviations:
    """The deviations of a program on a device, under any name or thin wrapper."""
    found = {
        origin: deviations
        for (origin, where), deviations in targets.known.items()
        if where == device and _is(program, origin)
    }
    itself = any(_named(program, origin) for origin in found)
    listed = [one for deviations in found.values() for one in deviations]
    reasons = {number: one.reason for one in listed for number in one.clauses}
    return Deviations(reasons, strict=tuple(reasons) if itself else ())
