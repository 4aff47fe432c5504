"""Whether the results of an implementation change after other calls.

A compiled function may fall back to an eager one when its gradients are computed, and a function
that tries a fast way first may remember that it failed. Both continue to give right results, but of
another program than the one that people run. So a plain problem in each dtype is computed before
all others, and again after each clause. If the bits differ, the path has changed, and the report
notes it. That is no failure by itself (clauses may be about bits that change), as both paths are
judged. The report also notes the parts that a compiler did not compile.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np

from spec.backends.compiled import COMPILER, not_compiled
from spec.comparison import Violation
from spec.kinds import kind_of
from spec.subject import Refused, Subject
from spec.trial import Watch


@dataclass
class Witness:
    """An implementation, and its first result for a plain problem in each dtype."""

    subject: Subject
    answers: dict[str, bytes]
    refused: list[str]  # by a compiler, so far
    watch: Watch = field(default_factory=Watch)  # since it was last asked for its seconds
    notes: list[str] = field(default_factory=list)  # others, since the last ones

    @staticmethod
    def of(subject: Subject, refused: Sequence[str] | None = None) -> Witness:
        """The first results, if two calls agree; a result that varies could show no change.

        refused: parts that a compiler did not compile before the first call; by default, those so
        far.
        """
        once = {dtype: _answer(subject, dtype) for dtype in subject.dtypes}
        alike = {d: x for d, x in once.items() if x == _answer(subject, d)}
        return Witness(subject, alike, [*(not_compiled() if refused is None else refused)])

    def changed(self, when: str, dtype: str = "") -> tuple[str, ...]:
        """A line for each note and each change since the first results. dtype: all by default."""
        watched = [name for name in self.answers if dtype in ("", name)]
        subject = self.watch.over(self.subject)
        found = [d for d in watched if _answer(subject, d) != self.answers[d]]
        for name in found:
            del self.answers[name]
        said = [f"its result for a plain problem changed {when} [{', '.join(found)}]"] * bool(found)
        refused = [*not_compiled()]
        new = [reason for reason in dict.fromkeys(refused) if reason not in self.refused]
        self.refused = refused
        noted, self.notes[:] = (*self.notes,), ()
        return (
            *noted,
            *said,
            *(f"{COMPILER} gave up on a part {when}: {reason}" for reason in new),
        )

    def lap(self) -> float:
        """Seconds in the implementation since the last call of `lap`."""
        found, self.watch = self.watch.seconds, Watch()
        return found


def distinct(notes: Mapping[str, int]) -> list[str]:
    """Notes in the order of their positions; of those that differ in the clause, the first."""
    backwards = sorted(notes, key=notes.__getitem__, reverse=True)
    found = {re.sub(r"while \w+ was run", "", note): note for note in backwards}
    return sorted(found.values(), key=notes.__getitem__)


def _answer(subject: Subject, dtype: str) -> bytes:
    """The bits of a result, or the words of an exception."""
    functions = kind_of(subject.about).functions
    try:
        with np.errstate(all="ignore"):
            return _bits(functions.put(subject, functions.first, _plain(subject.about, dtype)))
    except (Refused, Violation) as error:
        return str(error).encode()


@cache
def _plain(about: str, dtype: str) -> Any:
    """The plain problem that is computed after each clause."""
    return kind_of(about).core(dtype)


def _bits(answer: Any) -> bytes:
    """The bits of a result with any structure; long doubles hold numbers of float64."""
    if is_dataclass(answer):
        return b"".join(_bits(getattr(answer, field.name)) for field in fields(answer))
    if isinstance(answer, Mapping):
        return b"".join(_bits(x) for x in answer.values())
    if isinstance(answer, tuple | list):
        return b"".join(map(_bits, answer))
    return b"" if answer is None else np.asarray(answer, dtype=np.float64).tobytes()
