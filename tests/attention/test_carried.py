"""Functions that have their arrays packed, in a cache or on ranks: who is right, and who is wrong.

They are asked other problems than all others, which these are: those that they take.
"""

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from functools import cache
from typing import Any

import pytest

from spec import CLAUSES
from spec.attention import rounding
from spec.attention.mistakes import appended, caching, lengths, packed, paged, rings, served
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.plug import implementation
from spec.attention.record import Implementation
from spec.certification.judging.drawing import series
from spec.certification.judging.judging import scope_for
from spec.comparison import Violation, equal
from spec.mistake import Mistake, catalogue
from tests.night import deep

RIGHT: Mapping[str, Any] = {
    "packed": packed.program(packed.Steps()),
    "served": served.program(served.Steps()),
    "padded": lengths.program(lengths.Steps()),
    "paged": caching.program(caching.Steps()),
    "spread": rings.program(rings.Steps()),
}
# Clauses whose problems these are; texts are for who has them.
NUMBERS = {**dict.fromkeys(RIGHT, ("A1", "J9", "C14")), "spread": ("A1", "Z8", "C15")}
WRONG = {
    "packed": catalogue(packed),
    "served": catalogue(served),
    "padded": catalogue(lengths),
    "paged": catalogue(paged, appended),
    "spread": catalogue(rings),
}
MISTAKES = [(name, mistake) for name, own in WRONG.items() for mistake in own.values()]


@cache
def problems(name: str) -> tuple[Problem, ...]:
    """As these functions are asked: beside all else, with texts and without."""
    record = implementation(RIGHT[name], backend="numpy")

    def drawn() -> Iterator[Problem]:
        for number in NUMBERS[name]:
            scope = scope_for(CLAUSES[number], record, "float32", "strict", "quick")
            yield from series(CLAUSES[number], scope, 24, 0)

    return tuple(drawn())


def hold(name: str, target: Any) -> None:
    """Raise Violation unless every one of the problems is answered as the definition says."""
    record = implementation(target, backend="numpy")
    for problem in problems(name):
        want, within = rounding.reference(problem), rounding.of_gradients(problem)
        equal(record.forward(problem), want.o, within=rounding.of_output(problem))
        found = record.backward(problem) if name == "spread" else want.gradients
        for x in ("q", "k", "v"):
            equal(getattr(found, x), getattr(want.gradients, x), within=getattr(within, x))


def answer(record: Implementation, problem: Problem) -> bytes:
    """The bits of an output and of gradients, or the words in their place."""
    try:
        found = [record.forward(problem)]
        if Capability.GRADIENTS in record.offers:
            gradients = record.backward(problem)
            found += [gradients.q, gradients.k, gradients.v]
        return b"".join(x.tobytes() for x in found)
    except Violation as violation:
        return str(violation).encode()


@pytest.mark.parametrize("name", RIGHT)
def test_the_program_with_every_step_right_is_right(name: str) -> None:
    hold(name, RIGHT[name])


@pytest.mark.parametrize(("name", "mistake"), MISTAKES, ids=[m.name for _, m in MISTAKES])
def test_a_mistake_shows_unless_it_is_harmless(name: str, mistake: Mistake) -> None:
    with nullcontext() if mistake.harmless else pytest.raises(Violation):
        hold(name, mistake.target)


@pytest.mark.parametrize("name", [deep(x) if x in ("paged", "spread") else x for x in RIGHT])
def test_no_two_mistakes_are_wrong_alike(name: str) -> None:
    records = [implementation(m.target, backend="numpy") for own, m in MISTAKES if own == name]
    traces = {tuple(answer(record, problem) for problem in problems(name)) for record in records}
    assert len(traces) == len(records)
