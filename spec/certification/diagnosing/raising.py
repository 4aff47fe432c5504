"""The problems on which a target sometimes raises an exception, in words.

Its functions are called on problems that are drawn for the definition. No result is compared, so
this takes little time.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from spec.certification.diagnosing.evidence import ANOTHER
from spec.certification.diagnosing.separating import best, shorter
from spec.certification.diagnosing.table import CLEAR, COVERED
from spec.certification.judging.drawing import same_chances, series
from spec.certification.judging.examiner import Examiner
from spec.certification.judging.judging import differentiates, scope_for
from spec.certification.judging.verdict import Verdict
from spec.certification.target.loading import resolved
from spec.features import joined
from spec.kinds import kind_of
from spec.subject import Refused

DRAWN = 100  # problems
SLOW = 0.02  # seconds for a problem: a slower target is not called again
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
        self.known: dict[tuple[str, str], str] = {}

    def said(self, verdict: Verdict) -> Verdict:
        """The verdict on a passing clause, with the condition of an occasional exception."""
        if not self.is_asked(verdict):
            return verdict
        clause = self.examiner.clauses[verdict.clause]
        name = "backward" if differentiates(clause) else self.functions.first
        key = name, pattern(verdict.message)
        if key not in self.known:
            self.known[key] = self._condition(*key)
        words = f"{RAISED}{self.known[key]})" if self.known[key] else ""
        return replace(verdict, message=f"{verdict.message}{words}")

    def is_asked(self, verdict: Verdict) -> bool:
        """Whether the target sometimes raised an exception, and can be called often."""
        sometimes = verdict.outcome == "holds" and verdict.refused > 0
        seconds = verdict.seconds.get("implementation", 0.0)
        fast = seconds < SLOW * (verdict.examples + verdict.refused)
        return sometimes and fast and not self.examiner.probed.sampled

    def _condition(self, name: str, message: str) -> str:
        """The condition that exactly those problems meet for which a function raises it."""
        found = [*self._called(name, message)]
        said, raised = np.array([x for x, _ in found]), np.array([x for _, x in found])
        if not raised.any() or raised.all():
            return ""
        features, weight = self.kind.features.candidates(), np.ones(len(raised))
        every, prices = np.ones(len(features), dtype=bool), np.array([*features.values()])
        (split,) = best(said, raised, weight, prices, every)
        columns = shorter(split.columns, said, raised, weight)
        inside = np.asarray(said[:, list(columns)].all(axis=1))
        clear = columns and raised[inside].mean() > CLEAR and inside[raised].mean() > COVERED
        return joined([*features][i] for i in columns) if clear else ""

    def _called(self, name: str, message: str) -> Iterator[tuple[list[bool], bool]]:
        """Yield the features of each problem, and whether a function raises the message."""
        subject, put = self._subject, self.functions.put
        for problem in self._problems:
            try:
                with same_chances(), np.errstate(all="ignore"):
                    put(subject, name, problem)
            except Exception as error:  # what is none of the target's says nothing of it
                if isinstance(error, Refused) and pattern(str(error)) == message:
                    yield self.kind.features.said(problem), True
            else:
                yield self.kind.features.said(problem), False

    @property
    def _subject(self) -> Any:
        """The target in its most exact format."""
        return self.examiner.probed.by_dtype[self.examiner.probed.exact]

    @cached_property
    def _problems(self) -> list[Any]:
        """Problems drawn for the definition, within the bounds of the run."""
        clause = resolved(self.examiner.request.specification)[self.kind.definition]
        dtype = self.examiner.probed.exact
        reach = self.examiner.request.thoroughness.name
        scope = scope_for(clause, self._subject, dtype, "strict", reach)
        drawn = [*series(clause, scope, DRAWN, ANOTHER)]
        fitted = (self.functions.fitted(self._subject, problem) for problem in drawn)
        result = self.functions.group(self.functions.first)
        return [x for x in fitted if self.examiner.bounds.has(x, result)]
