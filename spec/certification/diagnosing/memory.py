"""Targets that remember: the first result is right, and a later one is wrong.

A search ends with the finding that results change from call to call (`unsteady`). Then problems are
computed by the target as it was before its first call (`isolation.pristine`). A problem that is
right there, and wrong otherwise, is computed after others: after itself, and after itself with one
thing changed. The first one after which it is always wrong shows what the target remembers.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from spec.certification.diagnosing.evidence import Evidence
from spec.certification.diagnosing.experiments import (
    changed,
    of_new_lengths,
    with_numbers,
    with_other_contents,
)
from spec.certification.diagnosing.leads import DEPENDS, GOES, Lead
from spec.simplify import Simplification
from spec.written import sizes

Alone = Callable[[tuple[str, Sequence[Any]]], list[str] | None]
SECONDS = 10.0  # for a target that takes its time: others are asked all there is
TIMES = 3  # that a problem is put after another one
OFTEN = 8  # that a problem is put again, to see whether its answer changes
LENGTHS = (1, 2, 3, 5, 8, 16, 64)


def comes_and_goes(evidence: Evidence, lead: Lead) -> bool:
    """Whether the problem of a failure is sometimes right."""
    return None in (evidence.failure(lead, lead.problem) for _ in range(OFTEN))


def unsteady(evidence: Evidence, lead: Lead) -> str:
    """How the result of one problem changes; "" if it does not.

    It may differ between two calls. Or it is right for the first problem of its lengths, and wrong
    for the next one, whichever of two is the first.
    """
    rows = (evidence.row(lead, lead.problem) for _ in range(OFTEN))
    if len({row.how for row in rows if row}) > 1:
        return GOES
    if lead.drawn:
        return ""
    known = False
    for place, problem in enumerate(of_new_lengths(lead.problem)):
        pair = [with_numbers(problem, seed) for seed in (place % 2, 1 - place % 2)]
        first, second = (evidence.row(lead, one) for one in pair)
        known = first is not None and not first.how and second is not None and bool(second.how)
        if not known:
            break
    return DEPENDS if known else ""


def nobody(_: tuple[str, Sequence[Any]]) -> None:
    """Return None: no target without earlier calls exists."""


def remembered(
    alone: Alone, twists: Simplification, number: str, problem: Any, formats: Sequence[str]
) -> tuple[Any, str] | None:
    """The call after which a problem is wrong, and its difference in words; None if unknown.

    alone: how problems break a clause, in order. twists: problems with an option changed. number:
    of the clause.
    """
    if alone((number, [problem])) != [""]:
        return None
    deadline = time.monotonic() + SECONDS
    for before in _others(twists, problem, formats):
        if time.monotonic() > deadline:
            break
        said = alone((number, [before, *[problem] * TIMES]))
        if said is not None and all(said[1:]):
            return before, _change(before, problem)
    return None


def _others(twists: Simplification, problem: Any, formats: Sequence[str]) -> Iterator[Any]:
    """Yield the problem, and the problem with one thing changed; contents of arrays first."""
    yield problem
    for name in problem.axes:
        yield from with_other_contents(problem, name)
    yield from changed(twists, problem, formats, LENGTHS)


def _change(before: Any, problem: Any) -> str:
    """The difference between two problems, in words."""
    lengths = [x for x, size in sizes(problem).items() if sizes(before)[x] != size]
    if lengths:
        return f"a call with another {lengths[0]}"
    plain = [x.name for x in fields(problem) if x.name not in problem.axes]
    options = [x for x in plain if not _same(getattr(before, x), getattr(problem, x))]
    if options:
        return f"a call with another {options[0]}"
    arrays = [x for x in problem.axes if not _same(getattr(before, x), getattr(problem, x))]
    return f"a call with another {' and '.join(arrays)}" if arrays else "the same call"


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return bool(np.array_equal(one, other, equal_nan=True))
    return one is other or bool(one == other)
