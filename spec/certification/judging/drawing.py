"""Problems drawn for a clause, the simplest first.

They depend on the seed, the clause, the dtype and what the target supports, and on nothing else.
Hypothesis draws from the same domains, choice by choice (`spec.exploring`), and then finds the
simplest problem. Here another search does that, so one number for each problem is enough.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from spec.choices import Numbered
from spec.clause import Clause
from spec.domain import Scope
from spec.stream import Stream, seed_of

T = TypeVar("T")

AT_ONCE = 32  # problems drawn in a row, which takes a tenth less time than between two checks


def series(clause: Clause, scope: Scope, count: int, seed: int) -> Iterator[Any]:
    """Yield `count` problems that a seed draws for a clause; a shorter series is a prefix."""
    known = seed_of(f"{seed} {clause.number} {scope.dtype}")
    chance = Stream(known)
    # The simplest choices come first; but no numbers that are nothing, in one of a few shapes.
    number = 0 if not any(scope.palette) else chance.word()
    for place in range(count):
        shape = scope.palette[place % len(scope.palette)] if scope.palette else None
        yield drawn(clause, scope, number, shape, (place, known))
        number = chance.word()


def drawn(
    clause: Clause,
    scope: Scope,
    number: int,
    shape: int | None = None,
    turn: tuple[int, int] | None = None,
) -> Any:
    """The problem of a clause that a number stands for, or several (`choices.Numbered`)."""
    return clause.over.problem(Numbered(number, shape, turn), scope)


def in_advance(problems: Iterator[T]) -> Iterator[T]:
    """The same problems, several of which are drawn before the first one is used.

    First few and then more, as what is wrong is often wrong on the first one, and the last.
    """
    several = 1
    while some := list(islice(problems, several)):
        yield from some
        several = min(2 * several, AT_ONCE)


@contextmanager
def same_chances() -> Iterator[None]:
    """The global generators of Python and NumPy, seeded with zero, and restored afterwards.

    So the result of a clause does not depend on what was judged before it.
    """
    known, of_numpy = random.getstate(), np.random.get_state()
    random.seed(0)
    np.random.seed(0)
    try:
        yield
    finally:
        random.setstate(known)
        np.random.set_state(of_numpy)
