"""How a problem is made smaller: until no way helps, where it is one of the clause, and in time."""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from spec import CLAUSES
from spec.attention.plug.trials import square
from spec.attention.simplify import options
from spec.attention.truth import truth
from spec.certification.explaining.reduction import reduced, smallest
from spec.comparison import holds
from spec.kinds import KINDS
from spec.notation import GRADES
from spec.simplify import kept

Pair = tuple[int, int]


def first(pair: Pair) -> Iterator[Pair]:
    """Less of the first number, once the second is at most as large."""
    if pair[0] > max(pair[1], 0):
        yield pair[0] - 1, pair[1]


def second(pair: Pair) -> Iterator[Pair]:
    """Less of the second number, once the first is at most as large."""
    if pair[1] > 0 and pair[0] <= pair[1]:
        yield pair[0], pair[1] - 1


def test_a_search_goes_through_the_ways_until_none_of_them_helps() -> None:
    assert smallest((3, 5), lambda _: True, (first, second)) == ((0, 0), True)
    assert smallest((3, 5), lambda p: p[1] > 1, (first, second)) == ((2, 2), True)


def test_a_search_that_runs_out_of_time_says_so() -> None:
    asked: list[Pair] = []

    def fails(pair: Pair) -> bool:
        asked.append(pair)
        return True

    assert smallest((3, 5), fails, (first, second), lambda: True) == ((3, 5), False)
    assert not asked
    assert smallest((0, 0), fails, (first, second), lambda: True) == ((0, 0), True)


def test_a_search_that_ends_keeps_what_it_found_and_makes_no_more_candidates() -> None:
    asked: list[Pair] = []
    made: list[Pair] = []

    def way(pair: Pair) -> Iterator[Pair]:
        for candidate in second(pair):
            made.append(candidate)
            yield candidate

    def fails(pair: Pair) -> bool:
        asked.append(pair)
        return True

    assert smallest((3, 5), fails, (way,), lambda: len(asked) > 1) == ((3, 3), False)
    assert made == [*asked, (3, 2)]


@pytest.mark.parametrize("size", range(2, 17))
def test_each_element_can_be_left_out_alone_and_all_but_each_half(size: int) -> None:
    ways = [{*map(int, index)} for index in kept(size)]
    every = {*range(size)}
    assert all(every - {left} in ways for left in every)
    half = size // 2
    assert {*range(half)} in ways or size % 2
    assert {*range(half, size)} in ways


@pytest.mark.parametrize("name", ["spare", "page", "added"])
@pytest.mark.parametrize("number", range(4))
def test_a_number_is_offered_less_and_never_itself(name: str, number: int) -> None:
    problem = square("float32").but(**{name: number})
    offered = {getattr(x, name) for x in options(problem)} - {number}
    assert offered == {*range(min(number, 3 if name == "page" else 2))}
    asked = [f.name for f in fields(problem)]
    for simpler in options(problem):
        assert any(getattr(simpler, x) is not getattr(problem, x) for x in asked)


@pytest.mark.parametrize("about", KINDS)
def test_no_way_changes_the_format_or_its_grade(about: str) -> None:
    kind = KINDS[about]
    for grade in GRADES:
        problem = kind.core("float16").but(rounding=grade)
        found = [simpler for way in kind.simplify for simpler in way(problem)]
        assert found
        assert {(x.dtype, x.rounding) for x in found} == {("float16", grade)}


def wants_three_keys(subject: Any, problem: Any) -> None:
    """With fewer than three keys nobody keeps it, and with more whoever returns ones does not."""
    holds(problem.M > 2 and bool((subject.forward(problem) != 1).any()), "it is so")


def test_what_the_definition_breaks_as_well_is_no_counterexample() -> None:
    clause = replace(CLAUSES["A1"], check=wants_three_keys)
    wrong = truth().but(forward=lambda problem: np.ones_like(problem.dout))
    problem = square("float64", N=5, M=7)
    found, done = reduced(clause, wrong, problem, truth().answers, 60.0)
    assert done
    assert (found.N, found.M) == (1, 3)
