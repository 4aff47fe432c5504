"""Subjects that are declared to be always causal, or to have as many keys as queries.

Neither is an option of such a subject, so it has a basic case of its own. Other problems are
refused here, in these words, and never reach the subject.
"""

from collections.abc import Callable, Mapping
from typing import Any

from spec.attention.asking import ALONE
from spec.attention.options import CAUSAL, MASK, Capability, together
from spec.subject import Refused

MASKED = together(MASK, CAUSAL)
BESIDE = {alone: together(CAUSAL, option) for option, alone in ALONE.items()}  # what is always so


def always(record: Any, chosen: Mapping[str, str]) -> Any:
    """The record with all that it is declared to be always, refusing what that rules out."""
    if chosen["causality"] == "always":
        more = {pair for alone, pair in BESIDE.items() if alone in record.answers}
        record = answering(record, {Capability.CAUSAL, MASKED, *more}, Capability.FUTURE)
        record = record.through(lambda _, function: asked(function, not_asked))
    if chosen.get("lengths") == "equal":
        record = answering(record, set(), Capability.LENGTHS)
        record = record.through(lambda _, function: asked(function, of_one_length))
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


def asked(function: Callable[..., Any], put: Callable[[Any], Any]) -> Callable[..., Any]:
    """A function of a problem, or of several, asked about what `put` makes of each."""

    def ask(problem: Any, *rest: Any) -> Any:
        several = isinstance(problem, tuple)
        return function(tuple(map(put, problem)) if several else put(problem), *rest)

    return ask
