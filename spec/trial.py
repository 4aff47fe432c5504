"""One clause, one subject, one problem: the smallest thing that is judged.

    broken    how the problem breaks the clause; to refuse what is not of the core is no breach
    keeps     whether it is answered, and rightly: a refusal is no answer
    asked     what the clause asks for

`Watch` knows what a subject was asked when it refused, and the time that it took. Who judges a
subject in a region only sees it through what raises `Elsewhere`: then nothing is said of it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec.clause import Clause
from spec.comparison import Violation
from spec.notation import Posed
from spec.subject import Refused, Subject, posed

REFUSED = "a problem of the core is refused"


class Elsewhere(Exception):
    """What is asked lies outside of the region in which a subject is judged."""


@dataclass
class Watch:
    """Seconds spent in an implementation, and the problem that it last refused."""

    seconds: float = 0.0
    refused: Posed | None = None

    def over(self, subject: Subject) -> Any:
        """The same record, its functions watched."""
        return subject.through(self._watched)

    def _watched(self, _: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def watched(problem: Posed, *rest: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(problem, *rest)
            except Refused:
                self.refused = problem
                raise
            finally:
                self.seconds += time.perf_counter() - start

        return watched


def tried(clause: Clause, subject: Subject, problem: Posed) -> tuple[Violation | None, bool]:
    """How `problem` breaks the clause, if it does, and whether it was answered at all.

    A refusal outside the core breaks nothing.
    """
    watch = Watch()
    try:
        with np.errstate(all="ignore"):
            clause.check(watch.over(subject), problem)
    except Violation as violation:
        return violation, True
    except Refused as refusal:
        return unless_allowed(refusal, watch, subject), False
    except Elsewhere:
        return None, False
    return None, True


def broken(clause: Clause, subject: Subject, problem: Posed) -> Violation | None:
    """How `problem` breaks the clause, if it does."""
    return tried(clause, subject, problem)[0]


def asked(clause: Clause, subject: Subject, problem: Posed) -> list[tuple[str, Any, Any]]:
    """What a clause asks for about a problem: functions, what they are put, and what is beside."""
    made: list[tuple[str, Any, Any]] = []

    def noted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def seen(put: Any, *rest: Any) -> Any:
            made.extend((name, one, rest) for one in posed(put))
            return function(put, *rest)

        return seen

    broken(clause, subject.through(noted), problem)
    return made


def keeps(clause: Clause, subject: Subject, problem: Posed) -> bool:
    """Whether `problem` is answered, and as the clause says."""
    try:
        with np.errstate(all="ignore"):
            clause.check(subject, problem)
    except (Refused, Violation, Elsewhere):
        return False
    return True


def unless_allowed(refusal: Refused, watch: Watch, subject: Subject) -> Violation | None:
    """A violation if the problem that was refused belongs to the core."""
    if watch.refused is not None and subject.kinds_of(watch.refused):
        return None
    return Violation(f"{REFUSED}: {refusal}")
