"""Functions that have their arrays packed or in a cache: who is right, and who is wrong.

They are asked other problems than all others, which these are: those that they take.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from spec import CLAUSES
from spec.attention import rounding
from spec.attention.mistakes import packed, paged
from spec.attention.notation import Problem
from spec.attention.plug import implementation
from spec.certification.judging.drawing import series
from spec.certification.judging.judging import scope_for
from spec.comparison import Violation, equal
from spec.mistake import Mistake, catalogue

MODULES: Mapping[str, ModuleType] = {"packed": packed, "paged": paged}
MISTAKES = [(name, mistake) for name, own in MODULES.items() for mistake in catalogue(own).values()]


def right(name: str) -> Any:
    """The program that the mistakes of a module spoil."""
    found: Any = MODULES[name]
    return found.program(found.Steps())


@cache
def problems(name: str) -> tuple[Problem, ...]:
    """As these functions are asked: beside all else, with texts and without."""
    record = implementation(right(name), backend="numpy")

    def drawn() -> Iterator[Problem]:
        for number in ("A1", "J9", "C14"):
            scope = scope_for(CLAUSES[number], record, "float32", "strict", "quick")
            yield from series(CLAUSES[number], scope, 24, 0)

    return tuple(drawn())


def hold(name: str, target: Any) -> None:
    """Raise Violation unless every one of the problems is answered as the definition says."""
    record = implementation(target, backend="numpy")
    for problem in problems(name):
        want, within = rounding.reference(problem).o, rounding.of_output(problem)
        equal(record.forward(problem), want, within=within)


@pytest.mark.parametrize("name", MODULES)
def test_the_program_with_every_step_right_is_right(name: str) -> None:
    hold(name, right(name))


@pytest.mark.parametrize(("name", "mistake"), MISTAKES, ids=[m.name for _, m in MISTAKES])
def test_a_mistake_shows(name: str, mistake: Mistake) -> None:
    with pytest.raises(Violation):
        hold(name, mistake.target)


@pytest.mark.parametrize("name", MODULES)
def test_no_two_mistakes_are_wrong_alike(name: str) -> None:
    records = [implementation(m.target, backend="numpy") for own, m in MISTAKES if own == name]
    traces = {
        b"".join(record.forward(problem).tobytes() for problem in problems(name))
        for record in records
    }
    assert len(traces) == len(records)
