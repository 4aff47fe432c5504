"""Lemma 7: nothing is lost in storing numbers of the format; and problems that consist of these."""

from dataclasses import replace

import numpy as np
import pytest

from spec import about
from spec.attention import rounding
from spec.attention.exact import with_exact_gradients, with_exact_scores
from spec.attention.notation import Problem
from spec.attention.options import KINDS, SINKS, SLOPES
from spec.attention.rounding.altogether import bounds
from spec.attention.rounding.lattice import unit
from spec.choices import Numbered
from spec.domain import Scope
from spec.formats import FORMATS, rounded
from spec.notation import GRADES, HALF, Array, Grade
from tests.attention.budget_shares import worst
from tests.attention.machine import STYLES, Machine
from tests.attention.rounding_problems import problem_of

RANDOM = np.random.default_rng(7)


def made(kind: str, seed: int, dtype: str, grade: Grade) -> Problem:
    """A problem of a kind, made of one that is drawn without biases."""
    problem = problem_of(seed, dtype, grade)
    masked = problem.mask is not None and problem.mask.dtype != bool
    plain = problem.but(mask=None if masked else problem.mask, scale=[None, 1.0, 0.3][seed % 3])
    make = with_exact_scores if kind == "scores" else with_exact_gradients
    return make(plain, seed)


def is_of_kind(kind: str, problem: Problem) -> bool:
    known = bounds(problem.but(rounding="eager"))
    return known.scores.exact if kind == "scores" else known.exactly is not None


@pytest.mark.parametrize("dtype", HALF)
def test_storing_adds_no_more_than_the_error_that_is_there(dtype: str) -> None:
    y = rounded(RANDOM.standard_normal(10_000) * np.exp(RANDOM.uniform(-4, 4, 10_000)), dtype)
    x = y * (1 + RANDOM.standard_normal(y.shape) * 10 ** RANDOM.uniform(-5, 0, y.shape))
    stored, off = rounded(x, dtype), np.abs(x - y)
    assert (np.abs(stored - y) <= 2 * off).all()
    near = off < np.abs(y) * FORMATS[dtype].u / 2
    assert near.any()
    assert (stored[near] == y[near]).all()


@pytest.mark.parametrize(
    ("numbers", "want"),
    [([1.0, -3.0], 1.0), ([0.75, 0.0, 6.0], 0.25), ([16.0, 48.0], 16.0), ([0.0], np.inf)],
)
def test_the_unit_divides_all_numbers(numbers: list[float], want: float) -> None:
    assert unit(np.array(numbers)) == want


@pytest.mark.parametrize("kind", ["scores", "gradients"])
@pytest.mark.parametrize("dtype", HALF)
def test_no_right_computation_exceeds_the_bounds(kind: str, dtype: str) -> None:
    for grade in GRADES:
        tried = 0
        for seed in range(30):
            problem = made(kind, seed, dtype, grade)
            if not is_of_kind(kind, problem):
                continue
            tried += 1
            for name, style in STYLES.items():
                shares = worst(problem, Machine(problem, style))
                assert max(shares.values()) <= 1, (seed, grade, name, shares)
        assert tried >= 8


def test_weights_of_biased_keys_are_not_exact() -> None:
    """Scores of zero do not suffice: a bias, or a sink other than zero, is a score as well."""
    for seed in range(30):
        problem = made("gradients", seed, "bfloat16", "eager").but(mask=None, causal=False)
        if not is_of_kind("gradients", problem) or problem.M < 2:
            continue
        bias = np.where(np.arange(problem.M) > 0, 0.5, 0.0)[None]
        assert bounds(problem.but(mask=bias)).exactly is None
        assert bounds(problem.but(sinks=np.ones(problem.H))).exactly is None
        zeros = {"mask": np.zeros_like(bias), "softcap": 30.0}
        assert bounds(problem.but(**zeros)).exactly is not None
        assert bounds(problem.but(merged=True)).exactly is None
        return
    pytest.fail("no problem of this kind was made")


@pytest.mark.parametrize("grade", GRADES)
def test_the_bounds_are_no_looser_than_the_usual_ones(grade: Grade) -> None:
    for seed in range(40):
        problem = made("gradients", seed, "bfloat16", grade)
        if not is_of_kind("gradients", problem):
            continue
        usual, least = bounds(problem).backward, rounding.of_gradients(problem)
        for name in "qkv":
            assert (getattr(least, name) <= getattr(usual, name)).all()


def refuses(factor: float, name: str, grade: Grade) -> int:
    """On how many of 40 problems gradients that are multiplied by a factor exceed their bound."""
    count = 0
    for seed in range(40):
        problem = made("gradients", seed, "bfloat16", grade)
        if is_of_kind("gradients", problem):
            right = getattr(rounding.reference(problem).gradients, name)
            off = np.abs(rounded(right * factor, "bfloat16") - right)
            count += bool((off > getattr(rounding.of_gradients(problem), name)).any())
    return count


@pytest.mark.parametrize(
    ("name", "grade", "factor"),
    [
        ("q", "flash", 1.01),
        ("q", "eager", 1.016),
        ("k", "flash", 1.01),
        ("k", "eager", 1.03),
        ("v", "eager", 1.008),
    ],
)
def test_percents_exceed_the_bounds(name: str, grade: Grade, factor: float) -> None:
    assert refuses(factor, name, grade) >= 3
    assert refuses(1.0, name, grade) == 0


@pytest.mark.parametrize(("clause", "kind"), [("A1", "scores"), ("A2", "gradients")])
def test_such_problems_are_drawn(clause: str, kind: str) -> None:
    answers = KINDS - {SINKS, SLOPES}
    scope = Scope(dtype="bfloat16", answers=answers, rounding="eager", reach="quick")
    over = about("attention")[clause].over
    problems = [over.problem(Numbered(1 + seed), scope) for seed in range(150)]
    count = sum(is_of_kind(kind, x) for x in problems)
    never = (replace(over, exact="").problem(Numbered(1 + seed), scope) for seed in range(150))
    assert count >= 2 * sum(is_of_kind(kind, x) for x in never)
    assert count >= 15


def test_what_no_query_sees_enters_nothing() -> None:
    for seed in range(20):
        problem = made("gradients", seed, "bfloat16", "eager")
        hidden = ~problem.allowed.any(axis=(0, 1, 2))[:, None]
        poisoned = problem.but(v=poison(hidden, problem.v), k=poison(hidden, problem.k))
        for name in "qkv":
            known, same = (getattr(rounding.of_gradients(x), name) for x in (problem, poisoned))
            np.testing.assert_array_equal(known, same)


def poison(hidden: Array, x: Array) -> Array:
    return np.where(hidden, 1e30, x)
