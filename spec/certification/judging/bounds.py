"""The problems on which a target is judged: those of `--where`, outside of the known causes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spec.backends import Unsuitable
from spec.certification.judging.cause import Cause
from spec.features import Test, is_part
from spec.kind import Kind
from spec.subject import Subject, posed
from spec.trial import Elsewhere


@dataclass(frozen=True)
class Bounds:
    """The problems on which a target is judged.

    where: a condition, empty for all problems. causes: excluded. tests: the predicate of each
    condition.
    """

    kind: Kind
    where: str = ""
    causes: tuple[Cause, ...] = ()
    tests: Mapping[str, Test] = field(default_factory=dict)

    @staticmethod
    def of(kind: Kind, where: str, causes: Sequence[Cause] = ()) -> "Bounds":
        """The bounds of a condition and causes. Raises ValueError for an unknown condition."""
        names = {name for cause in causes for name in cause.features} | {where} - {""}
        return Bounds(kind, where, (*causes,), {x: kind.features.sentence(x) for x in names})

    @staticmethod
    def asked(kind: Kind, where: str) -> "Bounds":
        """The bounds that a person requests. Raises Unsuitable for an unknown condition."""
        try:
            return Bounds.of(kind, where)
        except ValueError as error:
            raise Unsuitable(f"--where {where!r}: {error}") from None

    @property
    def everywhere(self) -> bool:
        """Whether no problem is excluded."""
        return not self.where and not self.causes

    def has(self, problem: Any, asked: str) -> bool:
        """Whether a function is judged on a problem."""
        if self.where and not self.tests[self.where](problem, asked):
            return False
        return not any(self.covers(cause, problem, asked) for cause in self.causes)

    def covers(self, cause: Cause, problem: Any, asked: str) -> bool:
        """Whether a cause contains a problem of this function."""
        if cause.drawn or not is_part(asked, cause.asked):
            return False
        return all(self.tests[name](problem, asked) for name in cause.features)

    def draws(self, problem: Any, clause: str) -> bool:
        """Whether a clause is tested on a problem."""
        return not any(
            clause in cause.beside and all(self.tests[name](problem, "") for name in cause.features)
            for cause in self.causes
        )

    def over(self, subject: Subject) -> Any:
        """The same subject; for excluded problems its functions raise `Elsewhere`."""
        if self.everywhere:
            return subject

        def seen(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
            asked = self.kind.functions.group(name)

            def within(problem: Any, *rest: Any) -> Any:
                if not all(self.has(one, asked) for one in posed(problem)):
                    raise Elsewhere
                return function(problem, *rest)

            return within

        return subject.through(seen)
