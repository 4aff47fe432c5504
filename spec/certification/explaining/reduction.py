"""The search for the smallest problem that still breaks a clause.

Each move offers simpler problems: fewer elements along an axis, one option less, simpler numbers. A
problem that still breaks the clause is kept, and the search continues from there, until no move
helps or the time is over. The definition has to pass the clause on each problem that is kept, so
the search cannot leave a clause's domain unnoticed.
"""

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from spec.clause import Clause
from spec.kinds import kind_of
from spec.simplify import Simplification
from spec.subject import Subject
from spec.trial import broken
from spec.written import in_a_line

TRIES, SECONDS = 10, 0.2  # for a problem that is only named


def reduced(
    clause: Clause,
    subject: Subject,
    problem: Any,
    answers: frozenset[str],
    seconds: float,
    tries: int = sys.maxsize,
) -> tuple[Any, bool]:
    """A smaller problem that breaks the clause, and whether no way makes it smaller still.

    tries: the number of smaller problems that are tested.
    """
    left = tries
    known = kind_of(subject.about)
    definition = known.truth()
    allowed = answers | subject.kinds_of(problem)
    guarded = _broken(clause, definition, problem) is False

    def fails(candidate: Any) -> bool:
        nonlocal left
        if not subject.kinds_of(candidate) <= allowed:
            return False
        left -= 1
        if not _broken(clause, subject, candidate):
            return False
        return not guarded or _broken(clause, definition, candidate) is False

    ends = time.monotonic() + seconds
    return smallest(problem, fails, known.simplify, lambda: left <= 0 or time.monotonic() > ends)


def in_few_tries(clause: Clause, subject: Subject, problem: Any, answers: frozenset[str]) -> str:
    """The sizes and options of the smallest problem that a short search finds, in a line.

    A target that compiles is given no other shapes for this.
    """
    if subject.palette:
        return in_a_line(problem)
    return in_a_line(reduced(clause, subject, problem, answers, SECONDS, TRIES)[0])


def smallest(
    problem: Any,
    fails: Callable[[Any], bool],
    ways: Sequence[Simplification],
    ends: Callable[[], bool] = lambda: False,
) -> tuple[Any, bool]:
    """The end of the search from `problem`, and whether no way makes it smaller still.

    ends: whether the search is to end.
    """
    before = None
    while before is not problem:
        before = problem
        for simpler in ways:
            found: Any = problem
            while found is not None:
                problem = found
                found = None
                for candidate in simpler(problem):
                    if ends():
                        return problem, False
                    if fails(candidate):
                        found = candidate
                        break
    return problem, True


def _broken(clause: Clause, subject: Subject, problem: Any) -> bool | None:
    """Whether a problem breaks the clause; None if it is outside of the clause's domain."""
    try:
        return broken(clause, subject, problem) is not None
    except Exception:
        return None
