"""Section F, continued. Hidden units have no order, and each can be rescaled.

    y = b2 + sum_f max(0, <x, W1[:, f]> + b1[f]) W2[f]

A sum has no order (F18). A factor c > 0 may move from a unit's second weights to its first
weights (F20), because max(0, c z) = c max(0, z). Differentiated in log c, at c = 1, this is

    <W1[:, f], dW1[:, f]> + b1[f] db1[f] = <W2[f], dW2[f]>              (F21)

for every unit and every loss. The gradients of GELU or of a sigmoid do not satisfy this identity.
A unit that is inactive everywhere has no effect and receives no gradient (F22).
"""

import numpy as np

from spec.attention.options import Capability
from spec.attention.rounding.linear import weighted
from spec.clause import clause
from spec.comparison import equal, same_bits
from spec.entries import EXACT
from spec.feed_forward import proofs
from spec.feed_forward.domain import Problems
from spec.feed_forward.notation import FeedForward, Problem
from spec.feed_forward.rounding import of_gradients, of_output
from spec.notation import Array

FACTORS = (1.0, 2.0, 0.5)


def with_units(problem: Problem, units: Array) -> Problem:
    """The network with the given units only, in the given order."""
    return problem.but(W1=problem.W1[:, units], b1=problem.b1[units], W2=problem.W2[units])


@clause(
    "F18",
    over=Problems(least=(1, 1, 2)),
    catches={"skips_the_last_unit", "transposes_equal_widths"},
)
def permuting_hidden_units_changes_nothing(network: FeedForward, problem: Problem) -> None:
    """Permuting the hidden units does not change the output.

        y(W1[:, order], b1[order], W2[order]) = y(W1, b1, W2)

    The output is a sum over units. Columns of W1 and rows of W2 belong to the same units only if no
    matrix is read transposed.
    """
    order = np.roll(np.arange(problem.F), 1 + problem.seed % (problem.F - 1))
    moved = with_units(problem, order)

    y, other = network.forward(problem), network.forward(moved)

    equal(other, y, within=of_output(problem) + of_output(moved))


@clause(
    "F19",
    over=Problems(families=EXACT),
    needs={Capability.GRADIENTS},
    catches={"opens_the_gate_at_zero", "opens_the_gate_halfway_at_zero"},
    force="should",
)
def relu_gradient_at_zero_is_zero(network: FeedForward, problem: Problem) -> None:
    """A unit whose pre-activation is exactly 0 receives no gradient and passes none to the input.

        dx = 0, dW1 = 0, db1 = 0    for x W1 + b1 = 0

    Any number between 0 and 1 is a subgradient of max(0, z) at 0, so this is only a `should`. The
    usual choice is 0, as in torch.relu and jax.nn.relu; torch.clamp takes 1, and torch.maximum one
    half. Only this clause tests the choice. Elsewhere the error bound allows any subgradient at 0.
    """
    silent = problem.but(W1=np.zeros_like(problem.W1), b1=np.zeros_like(problem.b1))
    none = problem.but(x=np.zeros_like(problem.x), b1=np.zeros_like(problem.b1))

    of_silent, of_none = network.backward(silent), network.backward(none)

    same_bits(of_silent.W1, np.zeros_like(problem.W1))
    same_bits(of_silent.b1, np.zeros_like(problem.b1))
    same_bits(of_none.x, np.zeros_like(problem.x))


@clause("F20", over=Problems(families=EXACT), catches={"smooths_the_gate", "saturates"})
def rescaling_a_unit_across_relu_changes_nothing(network: FeedForward, problem: Problem) -> None:
    """A power of two can move from a unit's second weights to its first and change no bit of y.

        y(c W1[:, f], c b1[f], W2[f] / c) = y    for c in 1, 2, 1/2, one for each unit

    max(0, c z) / c = max(0, z) for c > 0, and multiplying by powers of two does not round.
    """
    c = problem.chance().choices(FACTORS, problem.F)
    moved = problem.but(W1=c * problem.W1, b1=c * problem.b1, W2=problem.W2 / c[:, None])

    y, other = network.forward(problem), network.forward(moved)

    same_bits(other, y)


@clause(
    "F21",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={
        "forgets_the_gate_backward",
        "pairs_cotangents_with_what_units_receive",
        "gates_by_the_cotangent",
    },
    proof=proofs.gradients_of_a_unit_balance,
)
def weight_gradients_of_a_unit_balance(network: FeedForward, problem: Problem) -> None:
    """For each unit, the inner product of its first weights and bias with their gradients equals
    that of its second weights with theirs.

        sum_e W1[e, f] dW1[e, f] + b1[f] db1[f] = sum_e W2[f, e] dW2[f, e]

    Up to rounding, F20 holds for every factor c > 0, and this is its derivative in log c at c = 1.
    Zero gradients satisfy it; F3 to F5 reject them.
    """
    d, budget = network.backward(problem), of_gradients(problem)

    before = (problem.W1 * d.W1).sum(axis=0) + problem.b1 * d.b1
    after = (problem.W2 * d.W2).sum(axis=1)
    within = weighted(problem.W1, budget.W1).sum(axis=0) + weighted(problem.b1, budget.b1)
    equal(before, after, within=within + weighted(problem.W2, budget.W2).sum(axis=1))


@clause(
    "F22",
    over=Problems(families=EXACT),
    needs={Capability.GRADIENTS},
    catches={"forgets_the_gate_backward", "leaks_below_zero", "gates_by_the_cotangent"},
    effort=2,
)
def dead_unit_receives_no_gradient(network: FeedForward, problem: Problem) -> None:
    """A unit that is never active receives no gradient, and its second weights have no effect.

        dW1[:, f] = 0, db1[f] = 0, dW2[f] = 0    and y does not change by a bit with W2[f]

    In the check, W1 = 0 and b1[f] = -1, so the pre-activation of unit f is -1 everywhere. The zeros
    are exact: even a gradient of size 1e-8 is a failure.
    """
    f = problem.seed % problem.F
    dead = problem.but(b1=problem.b1 * 0, W1=problem.W1 * 0)
    b1 = np.ones(problem.F)
    b1[f] = -1.0
    dead = dead.but(b1=b1)
    W2 = problem.W2.copy()
    W2[f] += 1.0

    y, other, d = network.forward(dead), network.forward(dead.but(W2=W2)), network.backward(dead)

    same_bits(other, y)
    same_bits(d.W1[:, f], np.zeros(problem.E))
    same_bits(d.b1[f], np.zeros(()))
    same_bits(d.W2[f], np.zeros(problem.E))
