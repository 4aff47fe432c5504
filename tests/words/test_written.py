"""Problems as text: an array is read back as it was, and a long one is short where it can be."""

from typing import Any

import numpy as np
import pytest

from spec.notation import Array
from spec.simplify import kept
from spec.written import literal

ARRAYS = [
    np.zeros((0, 3)),
    np.arange(6).reshape(2, 3),
    np.array([[np.inf, -np.inf, np.nan]]),
    np.full((5, 100), -np.inf),
    np.arange(1025) < 1000,
    np.where(np.arange(300) > 7, 0.5, -np.inf).reshape(3, 100),
    np.random.default_rng(0).standard_normal((7, 11)),
]


@pytest.mark.parametrize("x", ARRAYS, ids=lambda x: f"{x.dtype}{x.shape}")
def test_an_array_is_read_back(x: Array) -> None:
    again: Any = eval(literal(x), {"np": np})
    assert again.shape == x.shape
    assert (again.dtype == bool) == (x.dtype == bool)
    np.testing.assert_array_equal(again, x)


def test_what_is_the_same_all_over_is_short() -> None:
    assert len(literal(np.full((5, 100), -np.inf))) < 60
    assert len(literal(np.arange(1025) < 1000)) < 90


def test_a_search_gets_past_a_long_axis() -> None:
    """A thousand keys that are all needed leave time for what else can be left out."""
    assert sum(1 for _ in kept(1025)) < 200
    assert [x.tolist() for x in kept(3)] == [[1, 2], [0, 2], [0, 1], [0]]
