"""The definition of dropout beside others, its budgets and its problems."""

from typing import Any

import numpy as np
import pytest

from spec.attention.record import KINDS
from spec.attention.rounding import arithmetic, chained
from spec.comparison import Violation, equal
from spec.domain import Scope
from spec.dropout import definition
from spec.dropout.domain import CROWDS, MOST, Problems, tamed
from spec.dropout.notation import Problem
from spec.dropout.rounding import bounds, of_any_output
from spec.exploring import problems


def small(seed: int = 0, p: float = 0.25, **changes: Any) -> Problem:
    numbers = np.random.default_rng(seed)
    q, k, v, dout = (numbers.standard_normal((2, 3, n, 5)) for n in (4, 5, 5, 4))
    return Problem(q, k, v, dout, p=p, seed=seed).but(**changes)


@pytest.mark.parametrize("seed", range(3))
def test_a_rate_of_zero_is_the_definition_of_attention(seed: int) -> None:
    from spec.attention import definition as without

    problem = small(seed, p=0.0)
    all_kept = np.ones((2, 3, 4, 5), dtype=bool)
    o, d = definition.attention(problem, all_kept), definition.gradients(problem, all_kept)
    expected = without.gradients(problem.attention)
    assert np.array_equal(o, without.attention(problem.attention))
    for name in ("q", "k", "v"):
        budget = getattr(bounds(problem, all_kept).of_gradients, name)
        equal(getattr(d, name), getattr(expected, name), within=budget)


@pytest.mark.torch
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_the_definition_is_what_autograd_has_for_a_mask(p: float) -> None:
    import torch

    problem = small(1, p)
    kept = np.random.default_rng(2).random((2, 3, 4, 5)) >= p
    q, k, v = (torch.tensor(getattr(problem, x), requires_grad=True) for x in ("q", "k", "v"))
    a = (q @ k.mT / 5**0.5).softmax(dim=-1)
    o = (a * torch.from_numpy(kept) / (1 - p)) @ v
    o.backward(torch.tensor(problem.dout))
    known = bounds(problem, kept)
    equal(o.detach().numpy(), definition.attention(problem, kept), within=known.output)
    closed = definition.gradients(problem, kept)
    for name, x in (("q", q), ("k", k), ("v", v)):
        assert x.grad is not None
        budget = getattr(known.of_gradients, name)
        equal(x.grad.numpy(), getattr(closed, name), within=budget)


def test_at_a_rate_of_one_the_definition_is_zero() -> None:
    problem = small(p=1.0)
    nothing = np.zeros((2, 3, 4, 5), dtype=bool)
    assert not definition.attention(problem, nothing).any()
    assert not any(x.any() for x in (definition.gradients(problem, nothing).v,))


def test_budgets_notice_a_relative_error_of_a_few_roundings() -> None:
    problem = small(dtype="float32")
    known = bounds(problem, np.ones((2, 3, 4, 5), dtype=bool))
    off = known.w * (1 + 2.0**-16)
    with pytest.raises(Violation):
        equal(off, known.w, within=known.weights)


def test_the_budget_for_any_mask_is_at_least_that_of_each() -> None:
    problem = small(dtype="float32")
    most = of_any_output(problem)
    for seed in range(20):
        kept = np.random.default_rng(seed).random((2, 3, 4, 5)) < 0.75
        assert (bounds(problem, kept).output <= most).all()


def test_a_small_error_is_not_lost_beside_a_large_number() -> None:
    """B << u |x| moves what it is multiplied with: (|x| + B) - |x| would say by nothing."""
    x, rules = np.full((1, 1), 2.0**40), arithmetic.allowed(small().attention)
    error = chained.added_up(x, x, x @ x, rules, 0.0, B_left=2.0**-20)
    assert error[0, 0] >= 2.0**-20 * 2.0**40


@pytest.mark.parametrize("domain", [Problems(), CROWDS], ids=["any", "crowd"])
def test_weights_are_large_enough_to_be_read(domain: Problems) -> None:
    from hypothesis import given, settings

    from spec.attention import definition as without

    @settings(max_examples=30, deadline=None, database=None)
    @given(problems(domain, Scope(dtype="float16", answers=KINDS)))
    def check(problem: Problem) -> None:
        assert np.abs(without.scores(problem.attention)[problem.allowed]).max() <= MOST
        assert without.weights(problem.attention)[problem.allowed].min() > 2.0**-22
        assert problem.allowed.any(axis=-1).all()
        assert problem.E == problem.M

    check()


def test_large_scores_are_tamed() -> None:
    large = small(q=np.full((2, 3, 4, 5), 100.0), k=np.full((2, 3, 5, 5), 4.0))
    scores = tamed(large).attention.sigma * tamed(large).q @ large.k.swapaxes(-1, -2)
    assert MOST / 2 < scores.max() <= MOST
