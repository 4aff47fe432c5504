"""A cause: a set of problems with a condition in words, on which a target is wrong.

The region is the rest, outside of all causes. Its sentence can be given to `--where`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spec.certification.judging.verdict import (
    Counterexample,
    counterexample_from_json,
    counterexample_to_json,
)
from spec.features import ASKED, joined, listed, negated

RAISES = "raises an exception"
NUMBERS = ("is wrong", "is NaN", "is infinite")  # how an answer of the right form is wrong


@dataclass(frozen=True)
class Cause:
    """The problems on which a target is wrong, and how it is wrong there.

    features: the conditions that all problems of the set meet; empty if the target is wrong on all
    problems. asked: the function with the wrong results, in words; "" for the first function, which
    all others depend on. parts: which of several results are wrong, if not all of them are.
    failure: how it is wrong, in words. drawn: whether the features describe the problems of
    clauses, as no single result is wrong; else the problems of calls. clauses, dtypes: the numbers
    of clauses that fail there, and the formats. problems: how many problems are wrong, and how many
    were tested there. beside: the numbers of clauses that fail there although none of their calls
    is wrong by itself. lens: the change that corrects it, in words. `besides`: for a set inside
    that of another cause, a line about the known bug that explains the rest of that set.
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
    parts: tuple[str, ...] = ()

    @property
    def set(self) -> tuple[str, ...]:
        """The features; if a later function is wrong, it comes first."""
        return (*([f"{self.asked}{ASKED}"] if self.asked else []), *self.features)

    @property
    def sentence(self) -> str:
        """The set, and what is wrong there."""
        where = f"where {joined(self.features)}" if self.features else "wherever it was tested"
        return f"{where}, {self.wrong}"

    @property
    def told(self) -> str:
        """The failure, the condition, and how often it fails if some problems there pass."""
        wrong, inside = self.problems
        often = f" in {wrong} of {inside} problems" if wrong < inside else ""
        everywhere = " in all problems" if wrong == inside > 0 else ""
        where = f" with {joined(self.features)}" if self.features else everywhere
        said = self._wrong(self.parts or (self._noun,))
        return f"{said}{self._form}{often}{where}"

    @property
    def _form(self) -> str:
        """What came in place of what, where an answer has another form: " (got ..., want ...)"."""
        message = self.counterexample.message if self.counterexample else ""
        _, _, form = message.partition(f"{self.failure}: ")
        return f" ({form})" if form and self.wrong == self.failure else ""

    @property
    def wrong(self) -> str:
        """The wrong result, and how it is wrong."""
        return self._wrong((self._noun,))

    @property
    def _noun(self) -> str:
        """The function with the wrong results, in words."""
        return self.asked or "the output"

    def _wrong(self, results: Sequence[str]) -> str:
        """The same of results by these names."""
        if self.drawn:
            verb = "is" if len(self.beside) == 1 else "are"
            return f"{', '.join(self.beside)} {verb} broken"
        noun = listed(results)
        if self.failure == RAISES:
            return f"computing {noun} {RAISES}"
        if not self.failure.startswith("is "):
            return self.failure
        first = results[-1].partition(" of ")[0]
        many = len(results) > 1 or (first.endswith("s") and not first.endswith("ss"))
        said = self.failure.replace("is ", "are ", 1) if many else self.failure
        return f"{noun} {said}{' in another way' if self.besides else ''}"

    def to_json(self) -> dict[str, Any]:
        """The cause as JSON, with its sentence."""
        example = self.counterexample
        written = example and counterexample_to_json(example)
        return {"sentence": self.sentence, **vars(self), "counterexample": written}

    @staticmethod
    def from_json(written: Mapping[str, Any]) -> "Cause":
        """The cause that `to_json` wrote."""
        fields = {name: x for name, x in written.items() if name != "sentence"}
        for name in ("features", "clauses", "dtypes", "problems", "beside", "parts"):
            fields[name] = tuple(fields.get(name, ()))
        example = fields["counterexample"]
        fields["counterexample"] = example and counterexample_from_json(example)
        return Cause(**fields)


NEGATIVE = ("not ", "no ")
Heard = Callable[[Cause], None]


def with_changes(causes: Sequence[Cause]) -> str:
    """That what corrects some causes is changed: "with the change of cause 1, "; or ""."""
    places = [str(place) for place, x in enumerate(causes, start=1) if x.lens]
    if not places:
        return ""
    noun = "changes of causes" if len(places) > 1 else "change of cause"
    return f"with the {noun} {listed(places)}, "


@dataclass(frozen=True)
class Region:
    """The problems on which a target is correct: those outside of all causes.

    features: the conditions of each cause. sentence: the region as a condition for `--where`, as
    far as words allow; "" for all problems. but: the numbers of clauses that fail on all problems.
    passed: whether each clause passes there, with the change that corrects a cause if there is one.
    """

    features: tuple[tuple[str, ...], ...] = ()
    sentence: str = ""
    but: tuple[str, ...] = ()
    passed: bool = True

    @staticmethod
    def outside(causes: Sequence[Cause], where: str, passed: bool) -> "Region":
        """The region outside of causes, and inside of the condition `where`."""
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
        """The region with these fields in JSON."""
        features = tuple(map(tuple, written["features"]))
        return Region(features, written["sentence"], tuple(written["but"]), written["passed"])


def _not(features: Sequence[str]) -> str:
    """That a conjunction does not hold; where a part of it is negative, by what does then."""
    if len(features) > 1 and not any(x.startswith(NEGATIVE) for x in features):
        return f"not ({joined(features)})"
    either = " or ".join(map(negated, features))
    return f"({either})" if len(features) > 1 else either
