"""Known bugs as explanations of a failure: those that break the same clause by the same number."""

import time
from collections.abc import Callable, Mapping, Set
from typing import Any

import numpy as np

from spec.clause import Clause
from spec.comparison import Violation
from spec.formats import FORMATS
from spec.mistake import Mistake
from spec.trial import broken

MOST = 3  # known bugs that are named for a failure
LAST_BITS = 8  # unit roundoffs: numbers so near differ by how the same was rounded
LOST = 1 / 3  # of the digits of a format: as many may be lost to large scores and long sums
SECONDS = 10.0  # the time limit for trying the known bugs


def told(
    mistakes: Mapping[str, Mistake], first: Set[str], explains: Callable[[Mistake], float]
) -> tuple[str, ...]:
    """A line for each known bug that explains a failure best: at most MOST, within SECONDS.

    first: the names of those that are tried before the others. explains: how much of a failure one
    explains; 0 if it does not.
    """
    deadline = time.monotonic() + SECONDS
    found: dict[str, float] = {}
    for name in sorted(mistakes, key=lambda name: name not in first):
        if time.monotonic() > deadline:
            break
        found[name] = 0.0 if mistakes[name].harmless else explains(mistakes[name])
    best = max(found.values(), default=0.0)
    named = (mistake for name, mistake in mistakes.items() if best and found.get(name) == best)
    return tuple(mistake.line for mistake in named)[:MOST]


def alike(violation: Violation | None, clause: Clause, record: Any, problem: Any) -> bool:
    """Whether a record breaks the clause on a problem in the same way as `violation`."""
    found = None if violation is None else _broken(clause, record, problem)
    return violation is not None and same(violation, found, problem.dtype)


def _broken(clause: Clause, record: Any, problem: Any) -> Violation | None:
    """How a known bug breaks the clause; None if it does not, or raises another exception."""
    if not clause.binds(record):
        return None
    try:
        return broken(clause, record, problem)
    except Exception:
        return None


def of_its_size(dtype: str) -> float:
    """How far a wrong number may be from another way to compute it, as a share of its size.

    Nobody has a bound on it: it may be the exponential of a score that should not be there.
    """
    u = FORMATS[dtype].u
    return float(max(LAST_BITS * u, u ** (1 - LOST)))


def same(one: Violation, other: Violation | None, dtype: str) -> bool:
    """Whether two violations are the same: one number in one position, up to rounding.

    The error bound is that of the right number, and nearly zero if that is an exact zero
    (`of_its_size`).
    """
    if other is None:
        return False
    if one.place is None or other.place is None:
        return one.place is other.place and str(one) == str(other)
    if one.place.index != other.place.index:
        return False
    got, said = one.place.got, other.place.got
    near = got == said or abs(got - said) <= max(one.place.budget, of_its_size(dtype) * abs(got))
    return near or bool(np.isnan([got, said]).all())
