"""A few calls of a target by a program of its own, where it lives in a process without its judge.

A target can see the process in which it is judged, and change the facts that come from there. So
some clauses are run again with answers of a program that has the target and nothing else (`alone`),
on problems that no target knows beforehand. A clause that holds there before some thousand calls
has to hold after them, and a kind of problem that was answered when the target was probed has to be
answered. Then one problem is larger than all others.

Of the clauses, those of the definition of each function are among them, and those that look at what
a call does to its arrays; the others are drawn. Nothing fails here that also fails where the
target is judged, as a clause says that already.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from spec.backends.elsewhere import Home, home
from spec.boundary.placed import Beyond
from spec.certification.judging.binding import lost
from spec.certification.judging.judging import Finding
from spec.certification.judging.posing import posed
from spec.certification.profiles import Profile
from spec.certification.target.probing import always
from spec.clause import Clause
from spec.comparison import Violation
from spec.kinds import kind_of
from spec.notation import HALF, Grade
from spec.subject import Refused, Subject
from spec.trial import Elsewhere, tried

AT_ONCE = 256  # calls between two looks at the clock
PLAIN = 96  # scores of a plain problem
LATE = "a call wrote into one of its inputs after it had answered"
NOTE = "not called again by a program of its own, which calls functions alone (docs/isolation.md)"
ALONE = "called by a program of its own"


class Effort(NamedTuple):
    """Limits: of seconds for clauses; of calls in a row, and of their seconds; of a large problem.

    low, high: its scores, as powers of two. large: seconds, if each score takes as long as those of
    a plain problem.
    """

    clauses: float
    calls: int
    seconds: float
    low: float
    high: float
    large: float


EFFORT: Mapping[str, Effort] = {
    "quick": Effort(1.0, 10_000, 0.4, 18, 20, 2.0),
    "standard": Effort(10.0, 15_000, 0.5, 18, 22, 20.0),
    "deep": Effort(100.0, 1_000_000, 15.0, 18, 24, 200.0),
}


class Found(NamedTuple):
    """How a target differs: in words, and a problem of the definition's clause, if that fails."""

    message: str
    problem: Any


def apart(
    clause: Clause,
    subject: Subject,
    finding: Finding,
    clauses: Mapping[str, Clause],
    dtypes: Sequence[str],
    profile: Profile,
    notes: list[str],
) -> Finding:
    """The finding of a clause, or that a call wrote late, or that the target differs by itself.

    A difference fails the definition. clauses: those that may be run; none if this is a look.
    dtypes: the formats of the target. It is called in one of them if few problems are drawn. notes:
    receives a line if no other program can call it.
    """
    there, (dtype,) = home(), subject.dtypes
    if there is None or finding.violation is not None:
        return finding
    if clause.force == "must" and there.late():
        return replace(finding, violation=Violation(LATE))
    if not clauses or clause.number != kind_of(subject.about).definition:
        return finding
    if profile.name == "quick" and dtypes[there.chance % len(dtypes)] != dtype:
        return finding
    applying = {number: x for number, x in clauses.items() if not lost(x, subject.answers, subject)}
    with there.program() as program, np.errstate(all="ignore"):
        try:
            found = Apart(subject, applying, EFFORT[profile.name], there, program).differs()
        except Beyond:
            notes.append(NOTE)
            return finding
    if found is None:
        return finding
    return replace(finding, violation=Violation(found.message), problem=found.problem)


class Apart:
    """A target, and the program that calls it."""

    def __init__(
        self, subject: Any, clauses: Mapping[str, Clause], effort: Effort, there: Home, program: Any
    ) -> None:
        self.subject, self.clauses, self.effort = subject, clauses, effort
        self.there, self.program, self.kind = there, program, kind_of(subject.about)
        self.functions, self.trials = self.kind.functions, self.kind.trials
        self.dtype = subject.dtypes[0]
        self.each = 0.0  # seconds of a call
        self.grade: Grade = subject.grades[-1] if self.dtype in HALF else "strict"

    def differs(self) -> Found | None:
        """The first difference."""
        held, until = [], None
        for clause, problem in posed(self.clauses, self.subject, self.grade):
            late = until is not None and time.monotonic() > until
            if late and clause.number != self.kind.definition:  # its problems are posed in any case
                continue
            why = self._why(clause, problem)
            if why is None:
                held.append((clause, problem))
            elif tried(clause, self.subject, problem) == (None, True):
                return self._found(ALONE, clause, problem, why)
            until = until or time.monotonic() + self.effort.clauses  # it has begun
        # A program is compiled for each shape: these have been, and no others are.
        few = any(self.subject.palette) or self.subject.compiled
        count = self._many(held[0][1] if few and held else self.kind.core(self.dtype))
        for clause, problem in held:
            if why := self._why(clause, problem):
                return self._found(f"{ALONE}, after {count} calls", clause, problem, why)
        return None if few else self._refuses(count) or self._large()

    def _why(self, clause: Clause, problem: Any) -> str | None:
        """Why a clause does not hold where a program of its own calls the target."""
        with self.there.asking(self.program):
            try:
                clause.check(self.subject, problem)
            except Violation as violation:
                return str(violation)
            except Refused as refusal:
                return f"it raises {refusal}"
            except Elsewhere:
                return None
            except Beyond:
                if clause.number == self.kind.definition:
                    raise
        return None

    def _found(self, how: str, clause: Clause, problem: Any, why: str) -> Found:
        if clause.number == self.kind.definition:
            return Found(f"{how}: {why}", problem)
        return Found(f"{how}, it fails {clause.number} {clause.name}: {why}", None)

    def _many(self, problem: Any) -> int:
        """Call it many times, how often nobody knows; as many calls as there is time for."""
        left = 1 + secrets.randbelow(self.effort.calls)
        begun, count, some = time.monotonic(), 0, 1
        while left and (spent := time.monotonic() - begun) < self.effort.seconds:
            some = min(2 * some if spent < self.effort.seconds / 8 else some, AT_ONCE, left)
            self.program.times = some - 1
            with self.there.asking(self.program), suppress(Elsewhere):
                always(self.functions, self.subject, self.functions.first, (problem,))
            left, count = left - some, count + some
        self.each = (time.monotonic() - begun) / count
        return count

    def _refuses(self, count: int) -> Found | None:
        """A kind of problem that is refused now, and was not when the target was probed."""
        first = self.functions.first
        for kind, problems in self.trials.kinds(self.dtype).items():
            # One that is also of another kind may end the process, as it did when it was probed.
            problems = tuple(x for x in problems if self._is_answered(x))
            if kind in self.subject.answers and problems:
                refusal = None
                with self.there.asking(self.program), suppress(Elsewhere):
                    refusal = always(self.functions, self.subject, first, problems)
                if refusal is not None:
                    how = f"{ALONE}, after {count} calls, it refuses what it answered before"
                    return Found(f"{how}: {kind.removeprefix('takes ')}: {refusal}", problems[0])
        return None

    def _is_answered(self, problem: Any) -> bool:
        """Whether all kinds that a problem is of are answered."""
        put = self.functions.fitted(self.subject, problem)  # as `always` puts it
        return bool(self.subject.kinds_of(put) <= self.subject.answers)

    def _large(self) -> Found | None:
        """Whether some rows of a problem are wrong that is larger than all others."""
        if self.trials.at_large is None:
            return None
        spread = self.effort.high - self.effort.low
        scores = 2 ** (self.effort.low + spread * secrets.randbits(53) / 2**53)
        if self.each / PLAIN * scores > self.effort.large:
            return None
        with self.there.asking(self.program), suppress(Elsewhere):
            try:
                self.trials.at_large(self.subject, self.dtype, self.grade, scores)
            except Refused as refusal:
                return Found(f"{ALONE} for {scores:.0f} scores, it raises {refusal}", None)
            except Violation as violation:
                return Found(f"{ALONE} for {scores:.0f} scores: {violation}", None)
        return None
