"""One clause on one subject and one problem: the smallest unit of testing.

    broken    how the problem breaks the clause; Refused does so in the basic case only
    keeps     whether the problem is answered, and correctly; Refused is no answer
    asked     the calls that the clause makes

`Watch` records the problem for which a subject raised Refused, and the time spent in it. A subject
that is tested in a region only raises `Elsewhere` outside; such a problem decides nothing.
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

REFUSED = "raises an exception in the basic case"


class Elsewhere(Exception):
    """A problem lies outside the region in which a subject is tested."""


@dataclass
class Watch:
    """Seconds spent in an implementation, and the last problem for which it raised Refused."""

    seconds: float = 0.0
    refused: Posed | None = None

    def over(self, subject: Subject) -> Any:
        """The same record with its functions watched."""
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

    An unsupported problem outside the basic case breaks nothing.
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
    """The calls that a clause makes for a problem: function, problem and further arguments."""
    made: list[tuple[str, Any, Any]] = []

    def noted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def seen(put: Any, *rest: Any) -> Any:
            made.extend((name, one, rest) for one in posed(put))
            return function(put, *rest)

        return seen

    broken(clause, subject.through(noted), problem)
    return made


def keeps(clause: Clause, subject: Subject, problem: Posed) -> bool:
    """Whether `problem` is answered, and the clause holds."""
    try:
        with np.errstate(all="ignore"):
            clause.check(subject, problem)
    except (Refused, Violation, Elsewhere):
        return False
    return True


def unless_allowed(refusal: Refused, watch: Watch, subject: Subject) -> Violation | None:
    """A violation if the unsupported problem belongs to the basic case; else None."""
    if watch.refused is not None and not subject.is_basic(watch.refused):
        return None
    return Violation(f"{REFUSED}: {refusal}")
