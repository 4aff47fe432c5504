"""What a target remembers: an answer that is right when it is the first, and wrong after another.

While causes are looked for, an answer that changes is noticed (`unsteady`), and given up.
Problems are put to the target as it was before anybody asked it (`isolation.pristine`). One that
is right there and was seen to be wrong is put after others: itself, and itself with one thing
changed. The first after which it is wrong, however often it is put, says what is remembered.
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
from spec.kind import Kind
from spec.written import sizes

Alone = Callable[[tuple[str, Sequence[Any]]], list[str] | None]
SECONDS = 10.0  # for a target that takes its time: others are asked all there is
TIMES = 3  # that a problem is put after another one
OFTEN = 8  # that a problem is put again, to see whether its answer changes
LENGTHS = (1, 2, 3, 5, 8, 16, 64)


def comes_and_goes(evidence: Evidence, lead: Lead) -> bool:
    """Whether the problem of a failure is answered right now and then."""
    return None in (evidence.failure(lead, lead.problem) for _ in range(OFTEN))


def unsteady(evidence: Evidence, lead: Lead) -> str:
    """How the answer to one problem changes; "" if it does not.

    Put again it may be another. Or it is right for the first problem of its lengths, and wrong
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
    """There is no target that nobody has asked."""


def remembered(
    alone: Alone, kind: Kind, number: str, problem: Any, formats: Sequence[str]
) -> tuple[Any, str] | None:
    """What a problem is wrong after, and in words; None if it is by itself, or after nothing known.

    alone: how problems break a clause, put in order. number: that of the clause.
    """
    if alone((number, [problem])) != [""]:
        return None
    deadline = time.monotonic() + SECONDS
    for before in _others(kind, problem, formats):
        if time.monotonic() > deadline:
            break
        said = alone((number, [before, *[problem] * TIMES]))
        if said is not None and all(said[1:]):
            return before, _change(before, problem)
    return None


def _others(kind: Kind, problem: Any, formats: Sequence[str]) -> Iterator[Any]:
    """The problem, and the problem with a single thing changed: what arrays hold comes first."""
    yield problem
    for name in problem.axes:
        yield from with_other_contents(problem, name)
    yield from changed(kind, problem, formats, LENGTHS)


def _change(before: Any, problem: Any) -> str:
    """How another problem differs, in words."""
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
