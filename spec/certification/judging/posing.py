"""The problems of which a program of its own answers the calls (`apart`): no target knows them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from spec.certification.judging.drawing import drawn
from spec.certification.judging.judging import scope_for
from spec.clause import Clause
from spec.kinds import kind_of
from spec.notation import Grade
from spec.subject import Subject

OTHERS = 8  # clauses that are drawn
TRIES = 8  # more problems are drawn, at most, where one has an empty array
CHANCE = secrets.SystemRandom()


def posed(
    clauses: Mapping[str, Clause], subject: Subject, grade: Grade
) -> Iterator[tuple[Clause, Any]]:
    """Clauses with problems: the simplest of each, and some that are drawn.

    subject: in one format. The clause of the definition comes first.
    """
    first, *chosen = _chosen(clauses, subject)
    rest = [x for x in clauses.values() if x not in (first, *chosen) and x.force == "must"]
    chosen += CHANCE.sample(rest, min(OTHERS, len(rest)))
    CHANCE.shuffle(chosen)
    for number in (secrets.randbits(64), 0, secrets.randbits(64)):
        for clause in (first, *chosen):
            yield clause, _drawn(clause, subject, grade, number)


def _chosen(clauses: Mapping[str, Clause], subject: Subject) -> Iterator[Clause]:
    """The definition's clause, then the others that are always among them."""
    kind = kind_of(subject.about)
    yield clauses[kind.definition]
    compares = kind.functions.compares
    numbers = {x for name in subject.offered for x in compares.get(name, ())}
    watching = {what for what, name in subject.offering.items() if name == "call"}
    for number, clause in clauses.items():
        if number != kind.definition and (number in numbers or watching & clause.needs):
            yield clause


def _drawn(clause: Clause, subject: Subject, grade: Grade, number: int) -> Any:
    """A problem of a clause; one without empty arrays, if a few tries find it.

    Nothing is compared where the output has no numbers, as for some shapes of a palette.
    """
    scope = scope_for(clause, subject, subject.dtypes[0], grade, "quick")
    tries: list[tuple[int, int | None]] = [(number, None)]
    if scope.palette:
        tries = [(number, x) for x in CHANCE.sample(scope.palette, len(scope.palette))]
    elif number:
        tries += [(secrets.randbits(64), None) for _ in range(TRIES)]
    found = drawn(clause, scope, *tries[0])
    for each in tries[1:]:
        if not _is_empty(found):
            break
        found = drawn(clause, scope, *each)
    return found


def _is_empty(problem: Any) -> bool:
    """Whether an array of a problem has no numbers."""
    arrays = (x for x in vars(problem).values() if isinstance(x, np.ndarray))
    return any(not x.size for x in arrays)
