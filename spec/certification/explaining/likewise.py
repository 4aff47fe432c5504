"""A failure of a target that a library function which it calls is known to have.

It does not excuse an adapter, which may do anything else, but its author is informed.
"""

from collections.abc import Iterator
from typing import Any

from spec.abilities import Deviation
from spec.alike import alike
from spec.certification.settings import Request
from spec.certification.target.following import Listener
from spec.certification.target.loading import load
from spec.clause import Clause
from spec.kinds import kind_of
from spec.subject import Subject, named
from spec.trial import broken


def likewise(clause: Clause, subject: Subject, problem: Any, device: str) -> str:
    """A line about a called function that breaks the clause alike by itself; else empty."""
    suspects = [*_suspects(clause, device)]
    if not suspects:
        return ""
    found = []
    listener = Listener(lambda: found.append(broken(clause, subject, problem)))
    for origin, deviation in suspects:
        if not listener.heard(named(origin)):
            continue
        known = load(named(origin), Request(kind=clause.about, device=device))
        if alike(found[0], clause, known, problem):
            return _told(clause.number, origin, deviation)
    return ""


def _suspects(clause: Clause, device: str) -> Iterator[tuple[str, Deviation]]:
    """Yield imported functions that are known to break the clause, best known first."""
    for (origin, where), deviations in kind_of(clause.about).targets.known.items():
        for deviation in deviations:
            if where == device and clause.number in deviation.clauses and named(origin):
                yield origin, deviation


def _told(number: str, origin: str, deviation: Deviation) -> str:
    library = origin.partition(".")[0]
    return (
        f"as {library} does, see {number} of {origin}: {deviation.reason}; declare it with "
        f'--deviation {number}="as {library} does" if it is meant'
    )
