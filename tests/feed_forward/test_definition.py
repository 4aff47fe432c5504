"""The feed-forward network: its definition, its budgets and problems, and what is no target."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from spec import CLAUSES
from spec.backends import Unsuitable
from spec.domain import Scope
from spec.exploring import problems
from spec.feed_forward import definition, rounding
from spec.feed_forward.domain import Problems
from spec.feed_forward.notation import Problem
from spec.feed_forward.plug import feed_forward
from spec.formats import rounded
from tests.judging import QUICK, found


def small(seed: int, B: int = 2, N: int = 3, E: int = 2, F: int = 4) -> Problem:
    """A problem of whole numbers, some of whose units receive exactly 0."""
    chance = np.random.default_rng(seed)
    sizes = {"B": B, "N": N, "E": E, "F": F}
    shapes = {n: tuple(sizes[a] for a in axes.split()) for n, axes in Problem.axes.items()}
    arrays = {n: chance.integers(-3, 4, s).astype(float) for n, s in shapes.items()}
    return Problem(**arrays, seed=seed)


@pytest.mark.parametrize("seed", range(5))
def test_the_definition_in_fractions_is_the_plain_loop(seed: int) -> None:
    """Every entry over 7: no float holds it, and nothing is rounded."""
    problem = small(seed)
    sevenths = np.frompyfunc(lambda number: Fraction(int(number), 7), 1, 1)
    exact = problem.but(**{name: sevenths(getattr(problem, name)) for name in Problem.axes})
    y = definition.feed_forward(exact)
    for b, n, e in product(range(problem.B), range(problem.N), range(problem.E)):
        total = exact.b2[e]
        for f in range(problem.F):
            z = exact.b1[f]
            for d in range(problem.E):
                z += exact.x[b, n, d] * exact.W1[d, f]
            total += max(z, Fraction(0)) * exact.W2[f, e]
        assert y[b, n, e] == total


@pytest.mark.parametrize("seed", range(5))
def test_gradients_in_fractions_are_differences_between_kinks(seed: int) -> None:
    """Between kinks the loss is linear in one number, so a difference is the derivative."""
    problem = small(seed)
    fraction = np.frompyfunc(lambda number: Fraction(int(number)) + Fraction(1, 3), 1, 1)
    exact = problem.but(**{name: fraction(getattr(problem, name)) for name in Problem.axes})
    assert (definition.received(exact) != 0).all()
    closed = definition.gradients(exact)
    step = Fraction(1, 10**6)
    for name in ("x", "W1", "b1", "W2", "b2"):
        array = getattr(exact, name)
        place = tuple(seed % size for size in array.shape)
        moved = array.copy()
        moved[place] += step
        difference = loss(exact.but(**{name: moved})) - loss(exact)
        assert difference / step == getattr(closed, name)[place]


def loss(problem: Problem) -> Any:
    return (problem.dy * definition.feed_forward(problem)).sum()


@pytest.mark.torch
@pytest.mark.parametrize("seed", range(3))
def test_the_definition_is_what_torch_has(seed: int) -> None:
    import torch
    from torch import nn

    problem = small(seed, E=5, F=7)
    network = nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 5)).double()
    arrays = {name: torch.from_numpy(getattr(problem, name).copy()) for name in Problem.axes}
    with torch.no_grad():
        network[0].weight.copy_(arrays["W1"].T)
        network[0].bias.copy_(arrays["b1"])
        network[2].weight.copy_(arrays["W2"].T)
        network[2].bias.copy_(arrays["b2"])
    x = arrays["x"].requires_grad_()
    y = network(x)
    y.backward(arrays["dy"])
    d = definition.gradients(problem)
    pairs = [(y, definition.feed_forward(problem)), (x.grad, d.x), (network[0].bias.grad, d.b1)]
    pairs += [(network[0].weight.grad.T, d.W1), (network[2].weight.grad.T, d.W2)]
    pairs += [(network[2].bias.grad, d.b2)]
    for got, want in pairs:  # whole numbers below 2^53: neither rounds
        assert np.array_equal(got.detach().numpy(), want)


# Budgets and problems


def test_gates_are_settled_on_the_lattice_but_at_zero() -> None:
    problem = small(0)
    bounds = rounding.bounds(problem.but(dtype="float32"))
    assert (bounds.of_z == 0).all()
    assert ((bounds.z != 0) == bounds.settled).all()


def test_an_eager_sum_is_exact_only_if_its_own_format_holds_it() -> None:
    """1 + 2^-11 has 12 bits: float32 holds it, float16 does not."""
    one, tiny = np.ones((1, 1, 1)), np.full(1, 2.0**-11)
    problem = Problem(one, one[0], tiny, one[0], tiny, one, dtype="float16")
    assert rounding.bounds(problem).exact.all()
    assert not rounding.bounds(problem.but(rounding="eager")).exact.any()


def test_granules_are_the_lowest_bits() -> None:
    got = rounding.granule(np.array([1.0, 3.0, 0.75, -6.0, 2.0**-20, 0.0]))
    assert got.tolist() == [0, 0, -2, 1, -20, np.inf]


def test_a_gate_that_rounding_may_open_makes_no_claim() -> None:
    """0.1 * 3 - 0.3 is not 0 in floats, and its sign depends on the order of the sum."""
    tenths = np.full((1, 1, 3), np.float32(0.1), dtype=float)
    problem = Problem(
        x=tenths,
        W1=np.ones((3, 1)),
        b1=-np.full(1, np.float32(0.3), dtype=float),
        W2=np.ones((1, 3)),
        b2=np.zeros(3),
        dy=np.ones((1, 1, 3)),
        dtype="float32",
    )
    assert not rounding.bounds(problem).settled.any()
    assert (rounding.of_gradients(problem).x >= 3).all()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_problems_hold_numbers_of_their_dtype_and_do_not_overflow(dtype: str) -> None:
    from hypothesis import given, settings

    @settings(max_examples=40, deadline=None, database=None)
    @given(problems(Problems(), Scope(dtype=dtype)))
    def check(problem: Problem) -> None:
        for name in Problem.axes:
            x = getattr(problem, name)
            assert np.array_equal(x, rounded(x, dtype))
            assert not x.flags.writeable
        d = definition.gradients(problem)
        largest = [np.abs(definition.feed_forward(problem)).max()]
        largest += [np.abs(getattr(d, name)).max() for name in ("x", "W1", "b1", "W2", "b2")]
        assert np.isfinite(rounded(np.array(largest), dtype)).all()

    check()


# What is no target


def too_few(x: Any, W1: Any) -> Any:
    return x @ W1


def too_narrow(x: Any, W1: Any, b1: Any, W2: Any, b2: Any) -> Any:  # noqa: ARG001
    return x @ W1


def two_answers(x: Any, W1: Any, b1: Any, W2: Any, b2: Any) -> Any:
    return x @ W1 @ W2 + b2, b1


def in_float32(x: Any, W1: Any, b1: Any, W2: Any, b2: Any) -> Any:
    return (np.maximum(x @ W1 + b1, 0) @ W2 + b2).astype(np.float32)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (too_few, "cannot be called with x, W1, b1, W2, b2"),
        (too_narrow, r"got \(2, 3, 5\), want \(2, 3, 4\)"),
        (two_answers, "a tuple of 2, want an array of numpy"),
        (in_float32, "float64 is computed in float32"),
    ],
)
def test_what_is_no_network_is_told_so_in_a_line(target: Callable[..., Any], words: str) -> None:
    with pytest.raises(Unsuitable, match=words) as caught:
        feed_forward(target, backend="numpy")
    assert "\n" not in str(caught.value)


@pytest.mark.torch
def test_a_module_without_two_linear_layers_is_no_network() -> None:
    from torch import nn

    class One(nn.Module):
        def __init__(self, width: int, units: int) -> None:
            super().__init__()
            self.only = nn.Linear(width, units)

    class Turned(nn.Sequential):
        def __init__(self, width: int, units: int) -> None:
            super().__init__(nn.Linear(width, width), nn.Linear(units, units))

    with pytest.raises(Unsuitable, match="1 linear layers, want two"):
        feed_forward(One)
    with pytest.raises(Unsuitable, match=r"got weights \[\(4, 4\), \(5, 5\)\], want"):
        feed_forward(Turned)


def test_a_network_without_gradients_is_not_asked_for_them() -> None:
    def forward(x: Any, W1: Any, b1: Any, W2: Any, b2: Any) -> Any:
        return np.maximum(x @ W1 + b1, 0) @ W2 + b2

    network = feed_forward(forward, backend="numpy")
    bound = [clause.number for clause in CLAUSES.values() if clause.binds(network)]
    assert "F1" in bound
    assert "F2" not in bound


def test_gradients_that_are_not_five_are_a_violation() -> None:
    def forward(x: Any, W1: Any, b1: Any, W2: Any, b2: Any) -> Any:
        return np.maximum(x @ W1 + b1, 0) @ W2 + b2

    vars(forward).update(backward=lambda dy, *_: (dy, dy))
    finding = found(CLAUSES["F2"], feed_forward(forward, backend="numpy"), "float64", QUICK)
    assert "a tuple of 2, want dx, dW1, db1, dW2, db2" in str(finding.violation)
