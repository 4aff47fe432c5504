"""Section F, continued. Every position is computed independently.

Attention mixes positions; the position-wise feed-forward network does not. Whatever the
other positions hold, y_n is a function of x_n. Typical bugs are a sum over the wrong axis, a
normalisation over the sequence, or a reshape that mixes positions with widths.
"""

import numpy as np

from spec.attention.options import Capability
from spec.clause import clause
from spec.comparison import equal
from spec.feed_forward.domain import Problems
from spec.feed_forward.notation import FeedForward, Problem
from spec.feed_forward.rounding import of_gradients, of_output
from spec.notation import Array

TWO_POSITIONS = Problems(least=(1, 2, 1))
TWO_ELEMENTS = Problems(least=(2, 1, 1))


def elsewhere(x: Array, axis: int, kept: int) -> Array:
    """x with other numbers at every position of the axis except `kept`."""
    other = np.flip(-x, axis=axis).copy()
    place = (slice(None),) * axis + (kept,)
    other[place] = x[place]
    return other


@clause(
    "F7",
    over=TWO_POSITIONS,
    catches={"subtracts_the_mean_over_positions", "gates_by_the_mean_over_positions"},
)
def feed_forward_positions_are_independent(network: FeedForward, problem: Problem) -> None:
    """Inputs at other positions do not change the output at one position.

        y(x')_n = y(x)_n    for x'_n = x_n

    Each position is a function of its own input alone.
    """
    n = problem.chance().below(problem.N)
    changed = problem.but(x=elsewhere(problem.x, 1, n))

    y, other = network.forward(problem), network.forward(changed)

    within = of_output(problem)[:, n] + of_output(changed)[:, n]
    equal(other[:, n], y[:, n], within=within)


@clause(
    "F8",
    over=TWO_ELEMENTS,
    catches={"normalises_over_the_batch", "gates_by_the_mean_over_the_batch"},
)
def feed_forward_batch_elements_are_independent(network: FeedForward, problem: Problem) -> None:
    """Other elements of the batch do not change the output of one element.

        y(x')_b = y(x)_b    for x'_b = x_b

    Batch normalisation violates this, because its statistics mix the elements of a batch.
    """
    b = problem.chance().below(problem.B)
    changed = problem.but(x=elsewhere(problem.x, 0, b))

    y, other = network.forward(problem), network.forward(changed)

    equal(other[b], y[b], within=of_output(problem)[b] + of_output(changed)[b])


@clause("F9", over=TWO_POSITIONS, catches={"adds_the_previous_position", "weights_by_position"})
def permuting_positions_permutes_the_output(network: FeedForward, problem: Problem) -> None:
    """Permuting the positions permutes the output in the same way.

        y(x[order]) = y(x)[order]

    The weights are the same at all positions. Another order of positions may put sums into
    different blocks, so the outputs need not agree to the bit.
    """
    order = problem.chance().permutation(problem.N)
    moved = problem.but(x=problem.x[:, order])

    y, other = network.forward(problem), network.forward(moved)

    equal(other, y[:, order], within=of_output(problem)[:, order] + of_output(moved))


@clause(
    "F10", over=TWO_POSITIONS, catches={"subtracts_the_mean_over_positions", "weights_by_position"}
)
def a_position_by_itself_has_the_same_output(network: FeedForward, problem: Problem) -> None:
    """A position alone has the same output as it has within a longer sequence.

        y(x[n:n+1]) = y(x)[n:n+1]

    Decoding relies on this, because positions arrive one by one.
    """
    n = problem.chance().below(problem.N)
    alone = problem.but(x=problem.x[:, n : n + 1], dy=problem.dy[:, n : n + 1])

    y, one = network.forward(problem), network.forward(alone)

    equal(one, y[:, n : n + 1], within=of_output(problem)[:, n : n + 1] + of_output(alone))


@clause(
    "F11", over=TWO_POSITIONS, needs={Capability.GRADIENTS}, catches={"averages_the_gates_backward"}
)
def gradient_at_a_position_ignores_other_positions(network: FeedForward, problem: Problem) -> None:
    """Inputs and cotangents at other positions do not change the gradient at one position.

        dx(x', dy')_n = dx(x, dy)_n    for x'_n = x_n, dy'_n = dy_n

    Forward and backward pass are separate code, so F7 does not imply this for the gradient.
    """
    n = problem.chance().below(problem.N)
    changed = problem.but(x=elsewhere(problem.x, 1, n), dy=elsewhere(problem.dy, 1, n))

    dx, other = network.backward(problem).x, network.backward(changed).x

    within = of_gradients(problem).x[:, n] + of_gradients(changed).x[:, n]
    equal(other[:, n], dx[:, n], within=within)


@clause(
    "F12",
    over=TWO_POSITIONS,
    needs={Capability.GRADIENTS},
    catches={"averages_the_bias_gradient", "sums_the_bias_gradient_over_the_batch_only"},
)
def gradients_of_parameters_add_over_positions(network: FeedForward, problem: Problem) -> None:
    """The gradient of a parameter is the sum of independent contributions of the positions.

        dW(x, dy) = dW(x[:, :n], dy[:, :n]) + dW(x[:, n:], dy[:, n:])    for W = W1, b1, W2, b2

    All positions share the weights, so each adds its part, whatever the other positions hold.
    """
    n = problem.chance().randrange(1, problem.N)
    parts = [
        problem.but(x=problem.x[:, rows], dy=problem.dy[:, rows])
        for rows in (slice(None, n), slice(n, None))
    ]

    whole, first, second = (network.backward(p) for p in (problem, *parts))

    budgets = [of_gradients(p) for p in (problem, *parts)]
    for name in ("W1", "b1", "W2", "b2"):
        within = sum(getattr(budget, name) for budget in budgets)
        equal(getattr(first, name) + getattr(second, name), getattr(whole, name), within=within)
