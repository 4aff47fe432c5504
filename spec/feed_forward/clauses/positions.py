"""Section F, continued. Each position is alone.

Position-wise: attention mixes positions, the feed-forward network does not. Whatever is
done to the others, y_n is a function of x_n. Mixing hides in a sum over the wrong axis, a
normalisation over the sequence, or a reshape that runs positions into widths.
"""

import numpy as np

from spec.attention.options import Capability
from spec.clause import clause
from spec.comparison import equal, same_bits
from spec.feed_forward.domain import Problems
from spec.feed_forward.notation import FeedForward, Problem
from spec.feed_forward.rounding import of_gradients, of_output
from spec.notation import Array

TWO_POSITIONS = Problems(least=(1, 2, 1))
TWO_ELEMENTS = Problems(least=(2, 1, 1))


def elsewhere(x: Array, axis: int, kept: int) -> Array:
    """x, with other numbers at every place of the axis but one."""
    other = np.flip(-x, axis=axis).copy()
    place = (slice(None),) * axis + (kept,)
    other[place] = x[place]
    return other


@clause(
    "F7",
    over=TWO_POSITIONS,
    catches={"subtracts_the_mean_over_positions", "gates_by_the_mean_over_positions"},
)
def each_position_is_alone(network: FeedForward, problem: Problem) -> None:
    """What other positions hold does not change a bit of the output at one.

        y(x')_n = y(x)_n    for x'_n = x_n

    The shapes are the same, so the same sums are taken in the same order.
    """
    n = problem.chance().below(problem.N)
    changed = problem.but(x=elsewhere(problem.x, 1, n))

    y, other = network.forward(problem), network.forward(changed)

    same_bits(other[:, n], y[:, n])


@clause(
    "F8",
    over=TWO_ELEMENTS,
    catches={"normalises_over_the_batch", "gates_by_the_mean_over_the_batch"},
)
def each_batch_element_is_alone(network: FeedForward, problem: Problem) -> None:
    """What other elements of the batch hold does not change a bit of the output of one.

        y(x')_b = y(x)_b    for x'_b = x_b

    Batch normalisation would be seen here, and nowhere else while the batch stays as it is.
    """
    b = problem.chance().below(problem.B)
    changed = problem.but(x=elsewhere(problem.x, 0, b))

    y, other = network.forward(problem), network.forward(changed)

    same_bits(other[b], y[b])


@clause("F9", over=TWO_POSITIONS, catches={"adds_the_previous_position", "weights_by_position"})
def positions_may_come_in_any_order(network: FeedForward, problem: Problem) -> None:
    """A permutation of the positions permutes the output.

        y(x[order]) = y(x)[order]

    The weights are the same everywhere. Two orders of positions may sum in different blocks, so
    this is not asked to the bit.
    """
    order = problem.chance().permutation(problem.N)
    moved = problem.but(x=problem.x[:, order])

    y, other = network.forward(problem), network.forward(moved)

    equal(other, y[:, order], within=of_output(problem)[:, order] + of_output(moved))


@clause(
    "F10", over=TWO_POSITIONS, catches={"subtracts_the_mean_over_positions", "weights_by_position"}
)
def a_position_by_itself_has_the_same_output(network: FeedForward, problem: Problem) -> None:
    """The output at a position is what it would be if there were no other.

        y(x[n:n+1]) = y(x)[n:n+1]

    This is what makes the network fit for decoding, where positions arrive one by one.
    """
    n = problem.chance().below(problem.N)
    alone = problem.but(x=problem.x[:, n : n + 1], dy=problem.dy[:, n : n + 1])

    y, one = network.forward(problem), network.forward(alone)

    equal(one, y[:, n : n + 1], within=of_output(problem)[:, n : n + 1] + of_output(alone))


@clause(
    "F11", over=TWO_POSITIONS, needs={Capability.GRADIENTS}, catches={"averages_the_gates_backward"}
)
def the_gradient_of_a_position_is_its_own(network: FeedForward, problem: Problem) -> None:
    """No bit of the gradient at a position depends on other positions or their cotangents.

        dx(x', dy')_n = dx(x, dy)_n    for x'_n = x_n, dy'_n = dy_n

    The passes are written separately, so F7 does not say it for the gradient.
    """
    n = problem.chance().below(problem.N)
    changed = problem.but(x=elsewhere(problem.x, 1, n), dy=elsewhere(problem.dy, 1, n))

    dx, other = network.backward(problem).x, network.backward(changed).x

    same_bits(other[:, n], dx[:, n])


@clause(
    "F12",
    over=TWO_POSITIONS,
    needs={Capability.GRADIENTS},
    catches={"averages_the_bias_gradient", "sums_the_bias_gradient_over_the_batch_only"},
)
def gradients_of_parameters_add_over_positions(network: FeedForward, problem: Problem) -> None:
    """The gradients of the parameters are sums of what each position adds by itself.

        dW(x, dy) = dW(x[:, :n], dy[:, :n]) + dW(x[:, n:], dy[:, n:])

    One set of weights serves all positions, so each adds its share, whoever else is there.
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
