"""The definition in fractions: equal to plain loops, and nothing leaves the fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from oracles import rational
from spec.attention import definition
from spec.attention.notation import Problem
from spec.attention.proofs.examples import exact, example
from spec.exploring import seeds
from spec.notation import Array
from spec.proving.exact import Logarithm, Rationals, fractions, power_of_two
from tests.judging import generated


def same_numbers(got: Array, want: Array) -> None:
    """Equal, not close."""
    assert got.shape == want.shape
    assert (np.asarray(got) == np.asarray(want)).all()


def drawn(seed: int) -> Problem:
    """An example, through a window as often as not; some have sinks, slopes, places, or dlse."""
    chance = np.random.default_rng(seed)
    bounds = (None, 0, 1, 2)
    window = tuple(bounds[i] for i in chance.integers(len(bounds), size=2) * chance.integers(2))
    corner = (None, "top-left", "bottom-right")[chance.integers(3)]
    problem = example(seed).but(window=window, window_corner=corner)
    t = chance.integers(-3, 4, problem.H).astype(float)
    some = np.where(chance.random(problem.H) < 0.3, -np.inf, t)
    lengths = {"query_positions": problem.N, "key_positions": problem.M}
    places = {name: chance.integers(-2, 5, (problem.B, n)) for name, n in lengths.items()}
    places = {name: x if chance.random() < 0.5 else None for name, x in places.items()}
    m = chance.integers(-2, 3, ((problem.H,), (problem.B, problem.H))[chance.integers(2)])
    return problem.but(
        sinks=(None, t, some)[chance.integers(3)],
        slopes=(None, m.astype(float))[chance.integers(2)],
        slopes_corner=(None, "top-left", "bottom-right")[chance.integers(3)],
        signed_slopes=bool(chance.integers(2)),
        dlse=(None, chance.integers(-3, 4, problem.dout.shape[:3]))[chance.integers(2)],
        **places,
    )


@given(seed=seeds())
@generated
def test_the_definition_is_that_of_plain_loops_in_fractions(seed: int) -> None:
    problem = drawn(seed)

    same_numbers(definition.weights(problem), rational.weights(problem))
    same_numbers(definition.attention(problem), rational.attention(problem))


@given(seed=seeds())
@generated
def test_its_gradients_are_those_of_the_whole_jacobian(seed: int) -> None:
    problem = drawn(seed)
    got, want = definition.gradients(problem), rational.gradients(problem)

    beside = [name for name in ("sinks", "slopes") if getattr(problem, name) is not None]
    for name in ("q", "k", "v", "bias", *beside):
        same_numbers(getattr(got, name), getattr(want, name))


def test_nothing_leaves_the_fractions() -> None:
    problem = example(3)
    gradients = definition.gradients(problem)

    for array in (definition.attention(problem), gradients.q, gradients.k, gradients.v):
        assert isinstance(array, Rationals)
        assert all(isinstance(x, Fraction) for x in array.flat)


@given(seed=seeds())
@generated
def test_log_sum_exp_is_the_logarithm_of_the_sum(seed: int) -> None:
    problem = example(seed)

    same_numbers(np.exp(definition.lse(problem)), np.exp(definition.scores(problem)).sum(axis=-1))


def test_powers_of_two_are_rational_at_integers_only() -> None:
    assert power_of_two(Fraction(-3)) == Fraction(1, 8)
    assert power_of_two(-np.inf) == 0
    assert power_of_two(Fraction(2) + Logarithm(Fraction(3))) == 12
    assert power_of_two(Fraction(2) - Logarithm(Fraction(3))) == Fraction(4, 3)
    with pytest.raises(ValueError, match="not rational"):
        power_of_two(Fraction(1, 2))
    with pytest.raises(ValueError, match="not rational"):
        definition.attention(exact(example(0).but(scale=0.3)))


def test_a_float_is_the_fraction_that_it_is() -> None:
    assert (fractions([1, 2]) + np.array([0.1, 0.5])).tolist() == [
        1 + Fraction(0.1),
        Fraction(5, 2),
    ]
