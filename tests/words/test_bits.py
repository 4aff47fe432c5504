"""Arrays as text and as JSON: each bit is read back, of whatever shape and dtype."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from spec.attention.notation import Problem
from spec.attention.plug.trials import square
from spec.notation import Array
from spec.saved import problem_from_json, problem_to_json
from spec.written import literal

ZEROS = np.zeros(200)
FLOATS = {
    "zeros of either sign": np.array([0.0, -0.0, 0.0, -0.0]),
    "a long run of negative zeros": -ZEROS,
    "zeros, then negative ones": np.where(np.arange(200) < 90, 0.0, -0.0),
    "negative zeros in a long row of others": np.where(np.arange(200) == 77, -0.0, 0.0),
    "ones and negative zeros": np.where(np.arange(200) < 90, 1.0, -0.0).reshape(2, 100),
    "infinities": np.where(np.arange(200) < 90, np.inf, -np.inf),
    "none": np.zeros((0, 3)),
    "none in the middle": np.zeros((2, 0, 3)),
    "the smallest and the largest": np.array([5e-324, 1.7976931348623157e308, 0.1]),
}


@pytest.mark.parametrize("x", FLOATS.values(), ids=FLOATS)
def test_the_bits_of_an_array_are_those_of_its_text(x: Array) -> None:
    found: Any = eval(literal(x), {"np": np})
    assert (found.shape, found.dtype, found.tobytes()) == (x.shape, x.dtype, x.tobytes())


@dataclass(frozen=True)
class One:
    """The least that there is of a problem."""

    x: Array


def read_back(x: Array) -> Array:
    """An array that is written as JSON, and read."""
    written = json.loads(json.dumps(problem_to_json(One(x))))
    found: Array = problem_from_json(One, written).x
    return found


@pytest.mark.parametrize("x", FLOATS.values(), ids=FLOATS)
def test_the_bits_of_an_array_are_those_of_its_json(x: Array) -> None:
    found = read_back(x)
    assert (found.shape, found.dtype, found.tobytes()) == (x.shape, x.dtype, x.tobytes())


@pytest.mark.parametrize("dtype", ["bool", "int64", "int32", "float32", "float64"])
@pytest.mark.parametrize("shape", [(0,), (2, 0), (3,), (2, 3), (300,)])
def test_an_array_is_read_in_its_own_dtype_however_many_numbers_it_has(
    dtype: str, shape: tuple[int, ...]
) -> None:
    for x in (np.zeros(shape, dtype), np.ones(shape, dtype)):
        found = read_back(x)
        assert (found.dtype, found.shape, found.tobytes()) == (x.dtype, x.shape, x.tobytes())


def test_a_problem_without_keys_is_the_same_problem_when_it_is_read() -> None:
    """Its mask of truth values has none, and still is one of truth values."""
    usual = square("float32")
    empty = {"k": usual.k[:, :, :0], "v": usual.v[:, :, :0]}
    problem = usual.but(**empty, mask=np.ones((usual.N, 0), dtype=bool))
    found = problem_from_json(Problem, json.loads(json.dumps(problem_to_json(problem))))
    assert found.mask is not None
    assert found.mask.dtype == bool
    assert (found.M, found.N) == (0, usual.N)
    assert problem_to_json(found) == problem_to_json(problem)
