"""The problems on which a target sometimes raises an exception, in words, and the smallest call.

Its functions are called on problems that are drawn for the definition, and on those of the clause
in which it raised one. No result is compared, so this takes little time.
"""

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from spec.certification.diagnosing.evidence import ANOTHER
from spec.certification.diagnosing.separating import best, shorter
from spec.certification.diagnosing.table import CLEAR, COVERED, calls
from spec.certification.explaining.plain import plain
from spec.certification.explaining.reduction import smallest
from spec.certification.judging.drawing import same_chances, series
from spec.certification.judging.examiner import Examiner
from spec.certification.judging.judging import differentiates, scope_for
from spec.certification.judging.verdict import Verdict
from spec.certification.target.loading import resolved
from spec.clause import Clause
from spec.comparison import Violation
from spec.features import joined
from spec.kinds import kind_of
from spec.subject import Refused

DRAWN = 100  # problems
SLOW = 0.02  # seconds for a problem: a slower target is not called again
SMALLEST = 0.3  # seconds for the search for the smallest call
RAISED = " (raised with "  # in a message, before the condition
NUMBERS = re.compile(r"\d+(?:[^\w\n]+\d+)*")  # a number, or several with signs alone between them


def pattern(message: str) -> str:
    """The message without numbers, so that messages with other sizes are equal."""
    return NUMBERS.sub("#", message)


def parted(message: str) -> tuple[str, str]:
    """The message, and the condition in words, if it is known."""
    raised, _, condition = message.partition(RAISED)
    return raised, condition.removesuffix(")")


class Raising:
    """The conditions under which a target raises exceptions."""

    def __init__(self, examiner: Examiner) -> None:
        self.examiner = examiner
        self.kind = kind_of(examiner.raw.about)
        self.functions = self.kind.functions
        self.known: dict[tuple[str, str], tuple[str, str]] = {}
        self.drawn: dict[str, list[Any]] = {}  # problems by format

    def said(self, verdict: Verdict) -> Verdict:
        """A verdict that is no failure, with the condition and a call of what raises."""
        if not self.is_asked(verdict):
            return verdict
        clause = self.examiner.clauses[verdict.clause]
        name = "backward" if differentiates(clause) else self.functions.first
        key = name, pattern(verdict.message)
        if key not in self.known:
            self.known[key] = self._told(clause, verdict.dtype, *key)
        words, script = self.known[key]
        return replace(verdict, message=f"{verdict.message}{words}", script=script)

    def is_asked(self, verdict: Verdict) -> bool:
        """Whether the target sometimes raised an exception, and can be called often."""
        sometimes = verdict.outcome in ("holds", "refused") and verdict.refused > 0
        seconds = verdict.seconds.get("implementation", 0.0)
        fast = seconds < SLOW * (verdict.examples + verdict.refused)
        return sometimes and fast and not self.examiner.probed.sampled

    def _told(self, clause: Clause, dtype: str, name: str, message: str) -> tuple[str, str]:
        """The condition, as the end of the message, and the smallest call as a script."""
        if dtype not in self.drawn:
            self.drawn[dtype] = self._drawn(dtype)
        known = self._known(self.drawn[dtype], dtype, name, message)
        condition = self._condition(known)
        if not condition:  # too few of them raise it, such as those without keys
            known += self._known(self._called(clause, dtype), dtype, name, message)
            condition = self._condition(known)
        if not any(x for _, x in known):
            return "", ""
        first = next(p for p, x in known if x)
        script = self._script(clause, name, self._smallest(first, dtype, name, message))
        return f"{RAISED}{condition})" if condition else "", script

    def _known(
        self, problems: Iterable[Any], dtype: str, name: str, message: str
    ) -> list[tuple[Any, bool]]:
        """The problems of which something is known, and whether a function raises the message."""
        found = ((problem, self._raises(dtype, name, message, problem)) for problem in problems)
        return [(problem, raised) for problem, raised in found if raised is not None]

    def _condition(self, known: Sequence[tuple[Any, bool]]) -> str:
        """The condition that exactly those problems meet for which a function raises it."""
        raised = np.array([x for _, x in known], dtype=bool)
        if raised.all() or not raised.any():
            return ""
        said = np.array([self.kind.features.said(problem) for problem, _ in known])
        features, weight = self.kind.features.candidates(), np.ones(len(raised))
        every, prices = np.ones(len(features), dtype=bool), np.array([*features.values()])
        (split,) = best(said, raised, weight, prices, every)
        columns = shorter(split.columns, said, raised, weight)
        inside = np.asarray(said[:, list(columns)].all(axis=1))
        clear = columns and raised[inside].mean() > CLEAR and inside[raised].mean() > COVERED
        return joined([*features][i] for i in columns) if clear else ""

    def _raises(self, dtype: str, name: str, message: str, problem: Any) -> bool | None:
        """Whether a function raises the message; None: another one, or what is not its own."""
        try:
            with same_chances(), np.errstate(all="ignore"):
                self.functions.put(self._subject(dtype), name, problem)
        except Exception as error:
            return True if isinstance(error, Refused) and pattern(str(error)) == message else None
        return False

    def _smallest(self, problem: Any, dtype: str, name: str, message: str) -> Any:
        """The smallest problem found for which a function raises the message."""
        subject, end = self._subject(dtype), time.monotonic() + SMALLEST

        def raises(candidate: Any) -> bool:
            inside = subject.kinds_of(candidate) <= subject.answers and self._lies_inside(candidate)
            return inside and bool(self._raises(dtype, name, message, candidate))

        ways = self.kind.simplify
        return smallest(problem, raises, ways, lambda: time.monotonic() > end)[0]

    def _script(self, clause: Clause, name: str, problem: Any) -> str:
        """The lines of a script that makes the call; "" where it cannot be written down."""
        if not self.examiner.raw.origin:
            return ""

        def check(record: Any, put: Any) -> None:
            try:
                self.functions.put(record, name, put)
            except Refused as refusal:
                raise Violation(str(refusal)) from None

        raising, examiner = replace(clause, check=check), self.examiner
        with suppress(Exception):  # where no script can show the call, words do
            return "\n".join(plain(raising, examiner.raw, examiner.request, problem))
        return ""

    def _subject(self, dtype: str) -> Any:
        """The target in a format."""
        return self.examiner.probed.by_dtype[dtype]

    def _drawn(self, dtype: str) -> list[Any]:
        """Problems drawn for the definition, within the bounds of the run."""
        clause = resolved(self.examiner.request.specification)[self.kind.definition]
        reach, subject = self.examiner.request.thoroughness.name, self._subject(dtype)
        scope = scope_for(clause, subject, dtype, "strict", reach)
        fitted = (self.functions.fitted(subject, x) for x in series(clause, scope, DRAWN, ANOTHER))
        return [x for x in fitted if self._lies_inside(x)]

    def _lies_inside(self, problem: Any, name: str = "") -> bool:
        """Whether a problem lies within the bounds of the run, as it is put to a function."""
        return self.examiner.bounds.has(problem, self.functions.group(name or self.functions.first))

    def _called(self, clause: Clause, dtype: str) -> Iterator[Any]:
        """Yield the problems that a clause puts to a function in this run."""
        request, subject = self.examiner.request, self.examiner.bounds.over(self._subject(dtype))
        scope = scope_for(clause, subject, dtype, "strict", request.thoroughness.name)
        count = request.thoroughness.examples * clause.effort
        with same_chances(), np.errstate(all="ignore"):
            for problem in series(clause, scope, count, request.seed):
                made = calls(clause, subject, problem)
                yield from (put for name, put in made if self._lies_inside(put, name))
