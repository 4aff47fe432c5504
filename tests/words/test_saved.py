"""Arrays as JSON has them: what they become again, and what is no array."""

import json

import numpy as np
import pytest

from spec.attention.notation import Problem
from spec.kinds import KINDS
from spec.saved import problem_from_json, problem_to_json
from spec.typed import Misfit

CORE = KINDS["attention"].core("float32")


def read_with(**q):
    """A problem that was saved, once its queries are written in another way."""
    return problem_from_json(Problem, problem_to_json(CORE) | {"q": q})


@pytest.mark.parametrize("q", [np.zeros((1, 1, 0, 2)), np.array([[[[np.inf, -0.0, 1 / 3]]]])])
def test_what_was_saved_is_read_again(q):
    written = json.loads(json.dumps(problem_to_json(CORE.but(q=q))))
    back = problem_from_json(Problem, written).q
    assert (back.shape, back.dtype, back.tobytes()) == (q.shape, q.dtype, q.tobytes())


@pytest.mark.parametrize(
    "runs",
    [
        [[0.0, 10**13]],  # whose numbers would fill all memory
        [[0.0, 2], [1.0, 10**13]],
        [[0.0, 3]],
        [[0.0, -1], [0.0, 5]],
        [[0.0, 4.0]],
        [[0.0, True]] * 4,
        [[[0.0], 4]],
        [["1", 4]],
        [[None, 4]],
        [],
    ],
)
def test_runs_of_numbers_fill_the_shape_and_no_more(runs):
    with pytest.raises(Misfit):
        read_with(shape=[1, 1, 2, 2], dtype="float64", runs=runs)


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ([1, 1, -2, -2], "float64"),
        ([1, 1, 2.0, 2], "float64"),
        ([10**6, 10**6, 1, 1], "float64"),
        ([1, 1, 2, 2], "object"),
        ([1, 1, 2, 2], "U9"),
        ([1, 1, 2, 2], "float64, float64"),
    ],
)
def test_a_shape_and_a_dtype_are_those_of_numbers(shape, dtype):
    with pytest.raises(Misfit):
        read_with(shape=shape, dtype=dtype, numbers=[0.0] * 4)


def test_an_array_that_nobody_could_have_drawn_is_none():
    with pytest.raises(Misfit):
        read_with(shape=[10**6, 10**6, 1, 1], dtype="float64", runs=[[0.0, 10**12]])


def test_an_array_has_all_axes_of_its_name():
    with pytest.raises(IndexError):
        read_with(shape=[4], dtype="float64", numbers=[0.0] * 4)
