"""The calls that a clause makes of an implementation, in order, and their results.

A clause that relates several calls puts problems of its own making. When it is
broken, nearly always one of those calls is wrong by itself, and that one is worth showing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from spec.attention.notation import Gradients, Problem
from spec.attention.options import ARRAYS
from spec.attention.plug.conventions import under
from spec.attention.record import Implementation
from spec.clause import Clause
from spec.comparison import Violation
from spec.notation import Array, Call
from spec.subject import Refused
from spec.trial import broken

OF_ALL = {
    "backward": ("q", "k", "v"),
    "lse_backward": ("q", "k", "v"),
    "bias_gradient": ("mask",),
    "sink_gradient": ("sinks",),
    "slope_gradient": ("slopes",),
}
NAMES = {"forward": "o", "training": "o", "call": "o", "weights": "a", "lse": "lse"}


@dataclass(frozen=True)
class Asked:
    """One call: the function, the problem, and the answer, or the exception in its place.

    inputs: those whose gradients were asked for; of a call that gives no gradient, none.
    """

    function: str
    problem: Problem
    inputs: tuple[str, ...]
    answer: Any

    @property
    def size(self) -> int:
        """How many numbers there are to read."""
        p = self.problem
        options = (option.value(p) for option in ARRAYS if option.given(p))
        return sum(x.size for x in (p.q, p.k, p.v, *options))

    @property
    def tidy(self) -> Asked:
        """The same call of arrays that are contiguous."""
        return replace(self, problem=self.problem.but(memory="contiguous"))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arrays of the answer, if there is one."""
        return tuple(f"d{name}" for name in self.inputs) or (NAMES[self.function],)

    @property
    def arrays(self) -> Mapping[str, Array]:
        """The arrays of the answer by their names; none where there was an exception."""
        match self.answer:
            case Exception():
                return {}
            case Gradients():
                found = [getattr(self.answer, name) for name in self.inputs]
            case Mapping():
                found = [self.answer[name] for name in self.inputs]
            case Call():
                found = [self.answer.out]
            case _:
                found = [self.answer]
        return dict(zip(self.names, found, strict=True))

    def again(self, implementation: Implementation) -> Asked:
        """The same call, made once more."""
        rest = (self.inputs,) if self.function == "partial" else ()
        answer = answered(getattr(implementation, self.function), self.problem, *rest)
        return Asked(self.function, self.problem, self.inputs, answer)


@dataclass
class Calls:
    """The calls that were made of an implementation, and how they broke a clause, if they did."""

    made: list[Asked] = field(default_factory=list)
    violation: Violation | None = None

    def over(self, implementation: Implementation) -> Implementation:
        """The same implementation, its calls noted."""
        return implementation.through(self._noted)

    def _noted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        of_all = OF_ALL.get(name, ())

        def noted(problem: Problem, *rest: Any) -> Any:
            answer = answered(function, problem, *rest)
            self.made.append(Asked(name, problem, rest[0] if rest else of_all, answer))
            if isinstance(answer, Exception):
                raise answer
            return answer

        return noted


def calls_of(
    clause: Clause, raw: Implementation, conventions: Mapping[str, str], problem: Problem
) -> Calls:
    """The calls of `raw` that the clause makes for `problem`, in the conventions of `raw`."""
    calls = Calls()
    calls.violation = broken(clause, under(calls.over(raw), conventions), problem)
    return calls


def answered(function: Callable[..., Any], problem: Problem, *rest: Any) -> Any:
    """The result of a function; the exception, if it has none, or one of the wrong form."""
    try:
        return function(problem, *rest)
    except (Refused, Violation) as error:
        return error
