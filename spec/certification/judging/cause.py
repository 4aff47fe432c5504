"""A cause: a set of problems that a sentence describes, and on which a target is wrong.

The region is what is left when all causes are taken out: its sentence can be asked for by `where`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spec.certification.judging.verdict import (
    Counterexample,
    counterexample_from_json,
    counterexample_to_json,
)
from spec.features import ASKED, joined, negated

RAISES = "raises an exception"
NUMBERS = ("is wrong", "is NaN", "is infinite")  # how an answer of the right form is wrong


@dataclass(frozen=True)
class Cause:
    """Where a target is wrong, and how.

    features: what all problems of the set have in common; none of them, where it is wrong wherever
    it is asked. asked: the function that gives the wrong answers, in words; "" where it is the
    first one of all, from which all others follow. failure: how it is wrong, in words.
    drawn: whether the features are of the problems that a clause is put, as no answer is wrong by
    itself; else of those that the target is asked. clauses: the numbers of those that are broken
    there, dtypes the formats. problems: how many were seen to be wrong, of how many that were
    looked at there. beside: the numbers of clauses that are broken there though no call of theirs
    is wrong by itself. lens: what makes it right, in words. besides: of a set inside that of
    another cause, a line about the known mistake whose answers are given in the rest of that.
    counterexample: the smallest one.
    """

    features: tuple[str, ...]
    asked: str
    failure: str
    drawn: bool = False
    clauses: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    problems: tuple[int, int] = (0, 0)
    beside: tuple[str, ...] = ()
    lens: str = ""
    besides: str = ""
    counterexample: Counterexample | None = None

    @property
    def set(self) -> tuple[str, ...]:
        """The features, that of what is asked for being the first."""
        return (*([f"{self.asked}{ASKED}"] if self.asked else []), *self.features)

    @property
    def sentence(self) -> str:
        """The set, and what is wrong there."""
        where = f"where {joined(self.features)}" if self.features else "wherever it was tested"
        return f"{where}, {self.wrong}"

    @property
    def told(self) -> str:
        """What is wrong, and where; and how often, if some problems there are answered right."""
        wrong, inside = self.problems
        often = f" in {wrong} of {inside} problems" if wrong < inside else ""
        everywhere = " in all problems" if wrong == inside > 0 else ""
        where = f" with {joined(self.features)}" if self.features else everywhere
        return f"{self.wrong}{self._form}{often}{where}"

    @property
    def _form(self) -> str:
        """What came in place of what, where an answer has another form: " (got ..., want ...)"."""
        message = self.counterexample.message if self.counterexample else ""
        _, _, form = message.partition(f"{self.failure}: ")
        return f" ({form})" if form and self.wrong == self.failure else ""

    @property
    def wrong(self) -> str:
        """What is wrong, and how."""
        if self.drawn:
            verb = "is" if len(self.beside) == 1 else "are"
            return f"{', '.join(self.beside)} {verb} broken"
        noun = self.asked or "the output"
        if self.failure == RAISES:
            return f"computing {noun} {RAISES}"
        if not self.failure.startswith("is "):
            return self.failure
        first = noun.partition(" of ")[0]
        many = first.endswith("s") and not first.endswith("ss")
        said = self.failure.replace("is ", "are ", 1) if many else self.failure
        return f"{noun} {said}{' in another way' if self.besides else ''}"

    def to_json(self) -> dict[str, Any]:
        """The cause as JSON has it, its sentence included."""
        example = self.counterexample
        written = example and counterexample_to_json(example)
        return {"sentence": self.sentence, **vars(self), "counterexample": written}

    @staticmethod
    def from_json(written: Mapping[str, Any]) -> "Cause":
        """The cause that `to_json` wrote."""
        fields = {name: x for name, x in written.items() if name != "sentence"}
        for name in ("features", "clauses", "dtypes", "problems", "beside"):
            fields[name] = tuple(fields[name])
        example = fields["counterexample"]
        fields["counterexample"] = example and counterexample_from_json(example)
        return Cause(**fields)


NEGATIVE = ("not ", "no ")
Heard = Callable[[Cause], None]


def with_changes(causes: Sequence[Cause]) -> str:
    """That what corrects some causes is changed: "with the change of cause 1, "; or ""."""
    *first, last = [str(place) for place, x in enumerate(causes, start=1) if x.lens] or [""]
    if first:
        return f"with the changes of causes {', '.join(first)} and {last}, "
    return f"with the change of cause {last}, " if last else ""


@dataclass(frozen=True)
class Region:
    """Where a target is what it is said to be: outside of all causes.

    features: of each cause, what all of its problems have in common. sentence: what is left, in
    words that `where` understands, as far as words go; "" for everywhere. but: the numbers of the
    clauses that are broken whatever is asked. passed: whether every clause was seen to hold there,
    or, where a change corrects a cause, with that change.
    """

    features: tuple[tuple[str, ...], ...] = ()
    sentence: str = ""
    but: tuple[str, ...] = ()
    passed: bool = True

    @staticmethod
    def outside(causes: Sequence[Cause], where: str, passed: bool) -> "Region":
        """What is left of where a target was to be judged."""
        sets = [cause.set for cause in causes if cause.set]
        told = tuple(x for x in sets if not any({*y} < {*x} for y in sets))
        everywhere = [cause for cause in causes if not cause.set]
        but = dict.fromkeys(n for cause in everywhere if cause.drawn for n in cause.clauses)
        wrong = [cause for cause in everywhere if not cause.drawn]
        parts = [f"({where})" if " or " in where else where] if where and not wrong else []
        parts += [_not(features) for features in dict.fromkeys(told) if not wrong]
        return Region(told, joined(parts), tuple(but), passed and all(x.lens for x in wrong))

    @staticmethod
    def from_json(written: Mapping[str, Any]) -> "Region":
        """The region whose fields were written as JSON."""
        features = tuple(map(tuple, written["features"]))
        return Region(features, written["sentence"], tuple(written["but"]), written["passed"])


def _not(features: Sequence[str]) -> str:
    """That a conjunction does not hold; where a part of it is negative, by what does then."""
    if len(features) > 1 and not any(x.startswith(NEGATIVE) for x in features):
        return f"not ({joined(features)})"
    either = " or ".join(map(negated, features))
    return f"({either})" if len(features) > 1 else either
