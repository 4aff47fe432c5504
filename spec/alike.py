"""Known bugs as explanations of a failure: those that break the same clause by the same number."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from spec.clause import Clause
from spec.comparison import Violation
from spec.formats import FORMATS
from spec.mistake import Mistake
from spec.trial import broken

MOST = 3  # known bugs that are named for a failure
LAST_BITS = 8  # unit roundoffs: numbers so near differ by how the same was rounded
SECONDS = 10.0  # the time limit for trying the known bugs


def told(mistakes: Mapping[str, Mistake], explains: Callable[[Mistake], float]) -> tuple[str, ...]:
    """A line for each known bug that explains a failure best: at most MOST, within SECONDS.

    explains: how much of a failure a known bug explains; 0 if it does not.
    """
    deadline = time.monotonic() + SECONDS
    found: dict[str, float] = {}
    for mistake in mistakes.values():
        if time.monotonic() > deadline:
            break
        if not mistake.harmless and (much := explains(mistake)):
            found[mistake.line] = much
    best = max(found.values(), default=0.0)
    return tuple(line for line, much in found.items() if much == best)[:MOST]


def alike(violation: Violation | None, clause: Clause, record: Any, problem: Any) -> bool:
    """Whether a record breaks the clause on a problem in the same way as `violation`."""
    found = None if violation is None else _broken(clause, record, problem)
    return violation is not None and _same(violation, found, problem.dtype)


def _broken(clause: Clause, record: Any, problem: Any) -> Violation | None:
    """How a known bug breaks the clause; None if it does not, or raises another exception."""
    if not clause.binds(record):
        return None
    try:
        return broken(clause, record, problem)
    except Exception:
        return None


def _same(one: Violation, other: Violation | None, dtype: str) -> bool:
    """Whether two violations are the same: one number in one position, up to rounding.

    The error bound is that of the right number, and nearly zero if that is an exact zero: a wrong
    number has the last bits of its own size.
    """
    if other is None:
        return False
    if one.place is None or other.place is None:
        return one.place is other.place and str(one) == str(other)
    if one.place.index != other.place.index:
        return False
    got, said = one.place.got, other.place.got
    bits = LAST_BITS * FORMATS[dtype].u * abs(got)
    near = got == said or abs(got - said) <= max(one.place.budget, bits)
    return near or bool(np.isnan([got, said]).all())
