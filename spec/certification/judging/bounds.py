"""Where a target is judged: wherever a sentence holds, and outside of the causes that are known."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spec.backends import Unsuitable
from spec.certification.judging.cause import Cause
from spec.features import Test, is_part
from spec.kind import Kind
from spec.subject import Subject, posed
from spec.trial import Elsewhere


def group(kind: Kind, function: str) -> str:
    """What is asked of a function, in words; "" of the first one of its kind."""
    function = kind.telltale.get(function, function)
    return "" if function == kind.first else kind.worded(function)


@dataclass(frozen=True)
class Bounds:
    """Where a target is judged.

    where: a sentence, empty for everywhere. causes: what is left out. tests: what each says.
    """

    kind: Kind
    where: str = ""
    causes: tuple[Cause, ...] = ()
    tests: Mapping[str, Test] = field(default_factory=dict)

    @staticmethod
    def of(kind: Kind, where: str, causes: Sequence[Cause] = ()) -> "Bounds":
        """Raises ValueError: `where` is no sentence of this kind."""
        names = {name for cause in causes for name in cause.features} | {where} - {""}
        return Bounds(kind, where, (*causes,), {x: kind.features.sentence(x) for x in names})

    @staticmethod
    def asked(kind: Kind, where: str) -> "Bounds":
        """Where a person wants it judged. Raises Unsuitable: what is no sentence of this kind."""
        try:
            return Bounds.of(kind, where)
        except ValueError as error:
            raise Unsuitable(f"--where {where!r}: {error}") from None

    @property
    def everywhere(self) -> bool:
        """Whether nothing is left out."""
        return not self.where and not self.causes

    def has(self, problem: Any, asked: str) -> bool:
        """Whether a function is judged on a problem."""
        if self.where and not self.tests[self.where](problem, asked):
            return False
        return not any(self.covers(cause, problem, asked) for cause in self.causes)

    def covers(self, cause: Cause, problem: Any, asked: str) -> bool:
        """Whether a cause speaks of a function that is put a problem."""
        if cause.drawn or not is_part(asked, cause.asked):
            return False
        return all(self.tests[name](problem, asked) for name in cause.features)

    def draws(self, problem: Any, clause: str) -> bool:
        """Whether a clause is put a problem."""
        return not any(
            clause in cause.beside and all(self.tests[name](problem, "") for name in cause.features)
            for cause in self.causes
        )

    def over(self, subject: Subject) -> Any:
        """The same subject, which says `Elsewhere` to what lies outside."""
        if self.everywhere:
            return subject

        def seen(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
            asked = group(self.kind, name)

            def within(problem: Any, *rest: Any) -> Any:
                if not all(self.has(one, asked) for one in posed(problem)):
                    raise Elsewhere
                return function(problem, *rest)

            return within

        return subject.through(seen)
