"""Clauses that a subject is known to break, or is declared to by the person who asks.

They follow what is called, not its name, and they stand in the chapters or are declared: nothing
that is judged can carry any, and no clause of a definition deviates. A deviation of the very thing
is strict: it is reported as soon as the clause holds again.

What breaks one clause for certain may break others now and then, when they happen to draw such a
problem. They would be excused of anything else as well if they were listed, so they are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from spec.certification.target.following import is_nothing_but
from spec.kind import Kind
from spec.subject import named


@dataclass(frozen=True)
class Deviations:
    """What one subject is known to break.

    reasons: number of a clause -> why. strict: the numbers of which each has to be seen; what
    calls something with arguments of its own may well avoid what that is known for.
    """

    reasons: Mapping[str, str]
    strict: tuple[str, ...] = ()

    def and_declared(self, reasons: Mapping[str, str]) -> Deviations:
        """Those that the person who asks declares as well, each said to be no more than that."""
        said = {number: f"declared: {' '.join(x.split())}" for number, x in reasons.items()}
        return replace(self, reasons={**self.reasons, **said}, strict=(*self.strict, *said))


def known(kind: Kind, program: Any, device: str) -> Deviations:
    """Those of a program of a kind, under whatever name and thin cover, on a device."""
    found = {
        origin: deviations
        for (origin, where), deviations in kind.known.items()
        if where == device and is_nothing_but(program, named(origin))
    }
    itself = any(program is named(origin) for origin in found)
    listed = [one for deviations in found.values() for one in deviations]
    reasons = {number: one.reason for one in listed for number in one.clauses}
    return Deviations(reasons, strict=tuple(reasons) if itself else ())
