"""What budgets grant where the roundings of a right computation can be counted by hand."""

import numpy as np
import pytest

from spec.attention import rounding
from spec.attention.notation import Problem
from spec.attention.rounding.arithmetic import allowed
from spec.attention.rounding.maximum import attained
from spec.formats import FORMATS
from spec.notation import DTYPES, GRADES, HALF, Grade
from tests.attention.rounding_problems import problem_of


def alike(M: int, dtype: str, grade: Grade = "strict") -> Problem:
    """One query, and keys whose scores are all 0."""
    q, k, v = np.zeros((1, 1, 1, 1)), np.zeros((1, 1, M, 1)), np.ones((1, 1, M, 1))
    return Problem(q, k, v, v[:, :, :1], dtype=dtype, rounding=grade)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_an_output_of_one_key_may_be_rounded_seven_times(dtype: str) -> None:
    """Four times as a weight on its way into the product, and three times as it is divided."""
    granted = rounding.of_output(alike(1, dtype)).item() / FORMATS[dtype].u
    assert 7 <= granted < 7.1


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_each_further_key_is_one_more_addition_in_either_sum(dtype: str) -> None:
    granted = [rounding.of_output(alike(M, dtype)).item() / FORMATS[dtype].u for M in range(1, 6)]
    assert (np.diff(granted) >= 2).all()
    assert (np.diff(granted) < 4.1).all()


@pytest.mark.parametrize("grade", GRADES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_only_results_of_16_bits_are_rounded_once_more(dtype: str, grade: Grade) -> None:
    rules, narrow = allowed(alike(1, dtype, grade)), dtype in HALF
    assert rules.unit == FORMATS["float32" if narrow else dtype]
    assert (rules.u, rules.u_out) == (rules.unit.u, FORMATS[dtype].u if narrow else 0)
    stored = {"strict": (0, 0), "flash": (1, 0), "eager": (1, 1)}[grade]
    each = FORMATS[dtype].u if narrow else 0
    assert (rules.u_cast, rules.u_each) == (stored[0] * each, stored[1] * each)


@pytest.mark.parametrize("dtype", HALF)
def test_an_eager_weight_may_be_rounded_at_each_of_its_steps(dtype: str) -> None:
    """The exponentials, their sum, the quotient, and the array that is handed out."""
    u = FORMATS[dtype].u
    e = np.array([1 + u, 1 - u])
    off = e / (e.sum() * (1 - u)) * (1 + u) * (1 + u) - 0.5
    granted = {grade: rounding.of_weights(alike(2, dtype, grade)) for grade in GRADES}
    assert (np.abs(off) <= granted["eager"]).all()
    assert off[0] > granted["flash"].max()


def test_a_score_may_be_the_largest_if_both_it_and_the_largest_are_off() -> None:
    s, eta = np.array([[[[1.0, 0.75, 0.5, 0.25, 2.0]]]]), np.full((1, 1, 1, 5), 0.25)
    seen = np.array([True, True, True, True, False])
    np.testing.assert_array_equal(attained(s, eta, seen)[0, 0, 0], [1, 1, 1, 0, 0])
    apart = np.array([[[[0.0, 0.25, 0.5, 0.25, 0.0]]]])  # each score is off by as much as it may
    np.testing.assert_array_equal(attained(s, apart, seen)[0, 0, 0], [1, 1, 1, 0, 0])


def test_an_error_of_a_score_counts_in_a_slope_as_often_as_its_distance_says() -> None:
    for seed in range(20):
        problem = problem_of(seed, "float32")
        problem = problem.but(slopes=np.full(problem.H, 0.5))
        off = np.asarray(rounding.of_gradients(problem).bias) * np.abs(problem.distance)
        assert (rounding.of_slopes(problem) >= off.sum(axis=(0, 2, 3))).all()
