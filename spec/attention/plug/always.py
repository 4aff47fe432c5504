"""What a person says is always so of a subject: it is causal, or has as many keys as queries.

Neither can be asked of it and neither be left out, so it has a core of its own. What a clause
puts beside that is refused here, in these words, and not put to it at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spec.attention.options import CAUSAL, MASK, Capability, together
from spec.subject import Refused, not_offered

MASKED = together(MASK, CAUSAL)


def always(record: Any, chosen: Mapping[str, str]) -> Any:
    """The record with all that it is declared to be always, refusing what that rules out."""
    if chosen["causality"] == "always":
        record = _through(
            answering(record, {Capability.CAUSAL, MASKED}, Capability.FUTURE), not_asked
        )
    if chosen.get("lengths") == "equal":
        record = _through(answering(record, set(), Capability.LENGTHS), of_one_length)
    return record


def not_asked(problem: Any) -> Any:
    """A causal problem as one that does not say so. Raises Refused for any other."""
    if not problem.causal:
        raise Refused("it is always causal, as declared")
    return problem.but(causal=False)


def of_one_length(problem: Any) -> Any:
    """The problem itself. Raises Refused where there are not as many queries as keys."""
    if problem.N != problem.M:
        raise Refused("it takes queries and keys of one length, as declared")
    return problem


def answering(record: Any, more: set[str], less: str) -> Any:
    """The record with some kinds of problem answered, and one not."""
    masks = {Capability.MASK, Capability.BIAS} & record.answers
    more = more if masks else more - {MASKED}
    return record.but(
        answers=(record.answers | more) - {less},
        differentiates=(record.differentiates | more) - {less},
    )


def _through(record: Any, put: Callable[[Any], Any]) -> Any:
    """The record, each of its functions asked about the problem that `put` makes."""

    def asked(function: Callable[..., Any]) -> Callable[..., Any]:
        def ask(problem: Any, *rest: Any) -> Any:
            several = isinstance(problem, tuple)
            return function(tuple(map(put, problem)) if several else put(problem), *rest)

        return ask

    there = {name: getattr(record, name) for name in record.functions}
    return record.but(**{n: asked(f) for n, f in there.items() if f is not not_offered})
