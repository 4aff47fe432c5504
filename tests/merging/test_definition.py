"""The definition of merging, its budgets and its problems."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from spec.attention import definition as attention
from spec.comparison import equal
from spec.domain import Scope
from spec.exploring import problems
from spec.formats import FORMATS, rounded
from spec.merging import definition, parts, rounding
from spec.merging.domain import LIVE, NONE, SEVERAL, Problems, emptied
from spec.merging.notation import Problem, State
from spec.merging.plug import core
from spec.notation import DTYPES
from spec.proving.exact import Logarithm, fractions
from tests.judging import generated


def whole(seed: int) -> Problem:
    """States whose log-sum-exps are whole numbers, and other numbers over 7."""
    chance, shape = np.random.default_rng(seed), (2, 1, 3, 2)
    o_1, o_2, do = (fractions(chance.integers(-9, 10, shape)) / 7 for _ in range(3))
    lse_1, lse_2 = (chance.integers(-3, 4, shape[:3]).astype(object) for _ in range(2))
    lse_1[0, 0, 0] = lse_2[0, 0, 0] = lse_2[1, 0, 1] = -np.inf
    dlse = fractions(chance.integers(-9, 10, shape[:3])) / 7
    one, two = (x.view(type(o_1)) for x in (lse_1, lse_2))
    return Problem(o_1, one, o_2, two, do, dlse)


def mass(lse: Any) -> Fraction:
    """2^lse, as base two is natural to fractions."""
    return Fraction(0) if lse == -np.inf else Fraction(2) ** int(lse)


@pytest.mark.parametrize("seed", range(5))
def test_the_definition_in_fractions_is_a_mean_by_masses(seed: int) -> None:
    """Nothing is rounded: o is (m_1 o_1 + m_2 o_2) / (m_1 + m_2), and 2^lse is m_1 + m_2."""
    p = whole(seed)
    o, lse = definition.merged(p)
    for place in np.ndindex(2, 1, 3):
        m_1, m_2 = mass(p.lse_1[place]), mass(p.lse_2[place])
        total = m_1 + m_2
        found = lse[place]
        assert (found.of if isinstance(found, Logarithm) else mass(found)) == total
        for c in range(2):
            terms = m_1 * p.o_1[*place, c] + m_2 * p.o_2[*place, c]
            assert o[*place, c] == (terms / total if total else 0)


@pytest.mark.parametrize("seed", range(3))
def test_gradients_in_fractions_are_differences(seed: int) -> None:
    """By an output, in which the state is linear; of an empty one there is none."""
    p = whole(seed)
    d, step = definition.gradients(p), Fraction(1, 1000)
    for name, place in product(("o_1", "o_2"), [(0, 0, 1, 0), (1, 0, 1, 1), (0, 0, 0, 1)]):
        moved = getattr(p, name).copy()
        moved[place] += step
        change = (
            p.do * (definition.merged(p.but(**{name: moved})).o - definition.merged(p).o)
        ).sum()
        assert change / step == getattr(d, name)[place]
    assert d.lse_1[0, 0, 0] == d.lse_2[0, 0, 0] == d.lse_2[1, 0, 1] == 0


# Budgets


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_definition_in_many_digits_is_within_a_part_of_the_budget(dtype: str) -> None:
    from oracles.merging_digits import MANY_DIGITS

    for number in (0.0, 1e4, -1e5):
        p = core(dtype)
        p = p.but(**{n: rounded(getattr(p, n) + number, p.lse_dtype) for n in ("lse_1", "lse_2")})
        found, budget = MANY_DIGITS.forward(p), rounding.of_state(p)
        equal(found.o, rounding.bounds(p).state.o, within=budget.o)
        equal(found.lse, rounding.bounds(p).state.lse, within=budget.lse)


def test_parts_that_were_normalised_lose_what_the_budget_says() -> None:
    """u |lse| of a weight, and not ten times that: the budget is no more than the arithmetic."""
    lse = np.full((1, 1, 1), 10000.0)
    o = np.ones((1, 1, 1, 1))
    p = Problem(o, lse, -o, lse + 0.5, o, lse * 0, dtype="float32")
    lost = FORMATS["float32"].u * 10000
    budget = rounding.of_state(p).o
    assert (lost / 2 < budget).all()
    assert (budget < 10 * lost).all()
    w = np.exp((lse - np.float32(np.logaddexp(lse, lse + 0.5))).astype(np.float32))
    assert abs(w - definition.weights(p)[0]).max() < budget.max()


def test_what_is_exact_has_no_budget() -> None:
    p = emptied(core("float64"), (NONE,))
    assert not rounding.of_state(p).lse.any()
    assert not any(x.any() for x in rounding.of_gradients(p))


def test_inexact_states_move_a_merge_by_no_more_than_lemma_5_says() -> None:
    chance = np.random.default_rng(0)
    p = core("float64")
    off = [State(*(1e-2 * chance.random(x.shape) for x in s)) for s in (p.one, p.two)]
    before, bound = definition.merged(p), rounding.moved(p, *off)
    for _ in range(50):
        signs = [[chance.choice([-1, 1], x.shape) for x in s] for s in off]
        one, two = (
            State(*(x + e * sign for x, e, sign in zip(s, error, some, strict=True)))
            for s, error, some in zip((p.one, p.two), off, signs, strict=True)
        )
        after = definition.merged(p.of(one, two))
        assert (abs(after.o - before.o) <= bound.o).all()
        assert (abs(after.lse - before.lse) <= bound.lse).all()


# Problems


@pytest.mark.parametrize("dtype", DTYPES)
def test_problems_hold_numbers_of_their_formats(dtype: str) -> None:
    @generated
    @given(problems(Problems(), Scope(dtype=dtype)))
    def check(p: Problem) -> None:
        for name in Problem.axes:
            x = getattr(p, name)
            assert np.array_equal(x, rounded(x, p.lse_dtype if "lse" in name else dtype))
        for state, empty in zip((p.one, p.two), p.empty, strict=True):
            assert not state.o[empty].any()
            assert (state.lse < np.inf).all()
        assert all(np.isfinite(x).all() for x in definition.gradients(p))

    check()


def test_rows_are_of_the_kinds_that_are_asked_for() -> None:
    p = emptied(core("float64").but(seed=5), (NONE, *SEVERAL))
    first, second = p.empty
    assert first[0, 0, 0]
    assert second[0, 0, 0]
    assert len({*zip(first.flat, second.flat, strict=True)}) == 4

    @generated
    @given(problems(LIVE, Scope()))
    def check(live: Problem) -> None:
        assert not (live.empty[0] | live.empty[1]).any()

    check()


def test_parts_are_a_partition_and_have_the_sink_once() -> None:
    p = core("float32").but(seed=3)
    asked = parts.whole(p, sinks=True)
    cut = parts.cut(asked, p.chance())
    seen = sum(x.mask.astype(int) for x in cut if x.mask is not None)
    assert np.array_equal(seen, np.asarray(asked.mask).astype(int))
    assert [x.sinks is not None for x in cut] == [True] + [False] * (len(cut) - 1)
    assert attention.attention(asked).shape == p.o_1.shape
