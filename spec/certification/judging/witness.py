"""Whether an implementation still answers as it did before anything else was asked of it.

A compiled function may fall back to an eager one when it is asked for gradients, and a function
that tries a fast way first may remember that it failed. Both go on to give right answers, which
are those of another program than the one that people run. So one plain problem in each dtype is
put before all else, and again after everything that is asked: other bits are a change of path,
and said to be one. It is no violation by itself (clauses may be about bits that change), as either
path is judged where it is met. What a compiler says that it did not compile is said as well.
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
    """An implementation, and what it first answered to a plain problem in each dtype."""

    subject: Subject
    answers: dict[str, bytes]
    refused: list[str]  # by a compiler, so far
    watch: Watch = field(default_factory=Watch)  # since it was last asked for its seconds

    @staticmethod
    def of(subject: Subject, refused: Sequence[str] | None = None) -> Witness:
        """Answers that come twice alike; one that does not could tell of no change.

        refused: by a compiler, before the subject was asked anything; by default, so far.
        """
        once = {dtype: _answer(subject, dtype) for dtype in subject.dtypes}
        alike = {d: x for d, x in once.items() if x == _answer(subject, d)}
        return Witness(subject, alike, [*(not_compiled() if refused is None else refused)])

    def changed(self, when: str, dtype: str = "") -> tuple[str, ...]:
        """A line if an answer is not what it was; of each dtype once. dtype: all unless given."""
        watched = [name for name in self.answers if dtype in ("", name)]
        subject = self.watch.over(self.subject)
        found = [d for d in watched if _answer(subject, d) != self.answers[d]]
        for name in found:
            del self.answers[name]
        said = [f"its result for a plain problem changed {when} [{', '.join(found)}]"] * bool(found)
        refused = [*not_compiled()]
        new = [reason for reason in dict.fromkeys(refused) if reason not in self.refused]
        self.refused = refused
        return (*said, *(f"{COMPILER} gave up on a part {when}: {reason}" for reason in new))

    def lap(self) -> float:
        """Seconds in the implementation since this was last asked."""
        found, self.watch = self.watch.seconds, Watch()
        return found


def distinct(notes: Mapping[str, int]) -> list[str]:
    """Notes in the order of their places; of those that name another clause alone, the first."""
    backwards = sorted(notes, key=notes.__getitem__, reverse=True)
    found = {re.sub(r"while \w+ was run", "", note): note for note in backwards}
    return sorted(found.values(), key=notes.__getitem__)


def _answer(subject: Subject, dtype: str) -> bytes:
    """The bits of an answer, or the words in its place."""
    known = kind_of(subject.about)
    try:
        with np.errstate(all="ignore"):
            return _bits(known.put(subject, known.first, _plain(subject.about, dtype)))
    except (Refused, Violation) as error:
        return str(error).encode()


@cache
def _plain(about: str, dtype: str) -> Any:
    """The problem, which is put after each clause."""
    return kind_of(about).core(dtype)


def _bits(answer: Any) -> bytes:
    """The numbers of an answer, whatever it is made of; long doubles hold those of float64."""
    if is_dataclass(answer):
        return b"".join(_bits(getattr(answer, field.name)) for field in fields(answer))
    if isinstance(answer, Mapping):
        return b"".join(_bits(x) for x in answer.values())
    if isinstance(answer, tuple | list):
        return b"".join(map(_bits, answer))
    return b"" if answer is None else np.asarray(answer, dtype=np.float64).tobytes()
