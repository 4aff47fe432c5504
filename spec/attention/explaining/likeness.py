"""The known mistakes that give the same wrong answer: what it looks like.

A mistake explains a failure if, wherever the implementation departs from the
definition, it has the mistake's numbers, and the mistake departs nowhere else. One that goes by
other conventions, to which the problem is another one, explains nothing.

A mistake is computed in float64 first, as rounding must not hide it. An overflow shows in narrower
formats alone, so it is computed in the format of the problem as well: as known mistakes compute,
which add float16 up in float32, and as eager programs do, which round every step to float16. Where
the correct program in that arithmetic has the same numbers, this is reported, and no mistake.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from typing import Any

import numpy as np

from spec.abilities import Fits
from spec.alike import of_its_size, told
from spec.attention import definition, magnitudes, rounding
from spec.attention.conventions import as_chosen
from spec.attention.mistakes.making import ARITHMETICS
from spec.attention.mistakes.making import at_once as program_of
from spec.attention.notation import Problem
from spec.attention.plug import implementation
from spec.attention.record import Implementation
from spec.comparison import Violation, close
from spec.kind import Kind
from spec.mistake import Mistake
from spec.notation import Array
from spec.subject import Refused, not_offered

NUMPY = ("float64", "float32", "float16")  # formats in which known mistakes are computed
LARGE = 255  # a number whose products overflow float16


def looks_like(
    known: Kind, first: Set[str], implementation: Implementation, problem: Problem, fits: Fits
) -> tuple[str, ...]:
    """A line for each known mistake, at most three, that gives the same wrong answer.

    first: the names of mistakes that are tried before the others.
    fits: on how many other problems the record of a mistake does as the implementation.
    """
    got = answers(implementation, problem)
    wanted = {name: rounding.wanted(problem, name) for name in got}
    off = {name for name, x in got.items() if not close(x, *wanted[name])}
    if not off:
        return ()
    share = of_its_size(problem.dtype)
    exact, half = (problem.but(dtype=dtype) for dtype in ("float64", "float16"))
    large = magnitudes.out_of_exp(half) or magnitudes.large(LARGE, problem)
    narrow = large and problem.dtype in NUMPY

    def alike(record: Implementation, put: Problem) -> bool:
        return _alike(_said(record, put), got, off, wanted, share)

    @cache
    def means_the_same(*choices: tuple[str, Any]) -> bool:
        with np.errstate(all="ignore"):
            own, meant = map(definition.attention, (exact.but(**dict(choices)), exact))
        return np.array_equal(own, meant, equal_nan=True)

    def explains(mistake: Mistake) -> float:
        record = known.subjects[mistake.name]
        if not means_the_same(*as_chosen(record.chosen).items()):
            return 0.0
        every = known.records(mistake.name)
        if not alike(record, exact):
            every = tuple(x for x in every if narrow and alike(x, problem))
        return max(map(fits, every), default=0.0)

    rounds = narrow and alike(_rounding_every_step(), problem)
    if rounds and fits(_rounding_every_step()):
        return (ARITHMETICS[0].sentence,)
    return told(known.mistakes, first, explains)


def at_once(mistakes: Sequence[Mistake]) -> Implementation | None:
    """Several mistakes as one record; None where they cannot be."""
    made = program_of(mistakes)
    return None if made is None else implementation(made, name=made.__name__, backend="numpy")


def arithmetics(mistake: Mistake) -> Sequence[Implementation]:
    """A mistake as it is in other arithmetics: that of the arrays' format, and float64."""
    made = (at_once((mistake, how)) for how in ARITHMETICS)
    return [record for record in made if record is not None]


@cache
def _rounding_every_step() -> Implementation:
    """The correct program in the arithmetic of eager programs."""
    made = at_once(ARITHMETICS[:1])
    assert made is not None
    return made


def answers(implementation: Implementation, problem: Problem) -> Mapping[str, Array]:
    """The results of an implementation: o and, where it has them, dq, dk, dv; {} if it refuses."""
    try:
        return dict(_said(implementation, problem))
    except (Refused, Violation):
        return {}


def _said(implementation: Implementation, problem: Problem) -> Iterator[tuple[str, Array]]:
    """The same one by one, so that nobody is asked for gradients whose output says enough."""
    with np.errstate(all="ignore"):
        yield "o", implementation.forward(problem)
        taught = problem.dlse is not None
        backward = implementation.lse_backward if taught else implementation.backward
        if backward is not not_offered:
            gradients = backward(problem)
            yield from ((f"d{name}", getattr(gradients, name)) for name in "qkv")


def _alike(
    said: Iterator[tuple[str, Array]],
    got: Mapping[str, Array],
    off: set[str],
    wanted: Mapping[str, tuple[Array, Array]],
    share: float,
) -> bool:
    """Whether what a mistake says departs from the definition as `got` does, and only there.

    The mistake is computed in float64, on the same numbers. Rounding may move a number by its
    budget, or by a share of its size.
    """
    alike: set[str] = set()
    try:
        for name, x in said:
            same = name in off
            if name in got and not _departs_alike(got[name], same, x, *wanted[name], share):
                return False
            alike.add(name)
    except (Refused, Violation):
        return False
    return off <= alike


def _departs_alike(
    got: Array, off: bool, x: Array, want: Array, budget: Array, share: float
) -> bool:
    """Whether an answer and a mistake's are both right, or wrong with the same numbers."""
    right = close(x, want, budget)
    if not off:
        return right
    return not right and close(got, x, np.maximum(budget, share * np.abs(x)))
