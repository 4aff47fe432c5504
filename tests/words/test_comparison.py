"""How numbers are compared: a budget is kept to exactly, whatever else is compared beside it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from spec.comparison import (
    Violation,
    at_least,
    at_most,
    close,
    equal,
    leaves_its_inputs_alone,
    measuring,
    same_bits,
)
from spec.notation import Array, Call

X = np.arange(6.0).reshape(2, 3)
OFF = [(equal, 1.0), (equal, -1.0), (at_most, 1.0), (at_least, -1.0)]  # where each is off
Relation = Callable[..., None]


@pytest.mark.parametrize(("relation", "off"), OFF)
def test_an_error_as_large_as_its_budget_is_allowed(relation: Relation, off: float) -> None:
    relation(X + off, X, within=1.0)
    relation(X + off, X, within=np.ones((2, 3)))
    assert close(X + off, X, np.ones((2, 3)))


@pytest.mark.parametrize(("relation", "off"), OFF)
def test_an_error_above_its_budget_is_a_violation(relation: Relation, off: float) -> None:
    for one in np.ndindex(2, 3):
        got = X.copy()
        got[one] += off
        with pytest.raises(Violation, match=rf"at \({one[0]}, {one[1]}\)") as caught:
            relation(got, X, within=np.nextafter(1.0, 0.0))
        assert caught.value.place is not None
        assert (caught.value.place.index, caught.value.place.got) == (one, got[one])


@pytest.mark.parametrize(("relation", "off"), [(at_most, -1.0), (at_least, 1.0)])
def test_a_number_on_the_right_side_of_its_bound_is_allowed(relation: Relation, off: float) -> None:
    relation(X + 10 * off, X, within=0.0)
    relation(np.where(X == 2, X - off, X + 10 * off), X, within=1.0)
    with pytest.raises(Violation, match=r"at \(0, 2\): got"):
        relation(np.where(X == 2, X - off, X + 10 * off), X, within=0.5)


@pytest.mark.parametrize("relation", [equal, at_most, at_least, same_bits])
def test_nan_is_within_no_budget(relation: Relation) -> None:
    words = {} if relation is same_bits else {"within": 1e300}
    with pytest.raises(Violation, match=r"at \(1, 0\): got nan"):
        relation(np.where(X == 3, np.nan, X), X, **words)


@pytest.mark.parametrize("relation", [equal, at_most, at_least, same_bits])
@pytest.mark.parametrize("other", [X.T, X.reshape(1, 6), X.reshape(1, 2, 3), np.zeros((2, 3, 1))])
def test_an_array_of_another_shape_is_a_violation(relation: Relation, other: Array) -> None:
    """Be it one with as many numbers, and the same ones."""
    words = {} if relation is same_bits else {"within": np.inf}
    with pytest.raises(Violation, match="shape"):
        relation(X, other, **words)


def test_a_budget_has_the_shape_of_what_is_compared() -> None:
    with pytest.raises(Violation, match="shape"):
        equal(X + 1, X, within=np.ones((3, 2)))
    equal(X + 1, X, within=np.ones(3))


def test_the_worst_error_is_the_largest_of_all_that_were_compared() -> None:
    with measuring() as measure:
        for off in (1.0, 3.0, 2.0):
            equal(X + off, X, within=4.0)
        at_most(X, X, within=4.0)
        at_most(X + 0.5, X, within=4.0)
    assert measure.worst == 0.75


def test_what_is_measured_outside_is_not_what_is_measured_inside() -> None:
    with measuring() as outer:
        equal(X + 1, X, within=4.0)
        with measuring() as inner:
            equal(X + 3, X, within=4.0)
        equal(X + 2, X, within=4.0)
    assert (outer.worst, inner.worst) == (0.5, 0.75)


def test_the_same_bits_are_the_same_but_for_the_sign_of_a_zero() -> None:
    zeros, special = np.zeros(3), np.array([np.nan, np.inf, -np.inf])
    same_bits(-zeros, zeros)
    same_bits(zeros, -zeros)
    same_bits(special, special.copy())
    for wrong in (np.nextafter(zeros, 1), -special):
        with pytest.raises(Violation, match="exactly"):
            same_bits(wrong, zeros if wrong[0] == wrong[0] else special)


@pytest.mark.parametrize(
    ("happened", "said"),
    [
        ({"changed": ("q",)}, "wrote into its input q"),
        ({"aliased": ("k", "v")}, "shares memory with the input k, v"),
        ({"reused": True}, "a second call returned the memory of the first"),
    ],
)
def test_a_call_leaves_its_inputs_and_earlier_results_alone(
    happened: dict[str, Any], said: str
) -> None:
    call = Call(X, "float64", **happened)
    with pytest.raises(Violation, match=said):
        leaves_its_inputs_alone(call)
    leaves_its_inputs_alone(Call(X, "float64"))
