"""Section F, continued. Units are a set, and each has a scale that nobody sees.

    y = b2 + sum_f max(0, <x, W1[:, f]> + b1[f]) W2[f]

A sum has no order (F18). A factor c > 0 may move from a unit's second weights to its
first (F20), because the gate lets it through; differentiated in log c, at c = 1, that is

    <W1[:, f], dW1[:, f]> + b1[f] db1[f] = <W2[f], dW2[f]>              (F21)

for every unit and every loss: a law that no gradient of another activation keeps. A unit
whose gate is shut everywhere takes no part in anything (F22).
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
    """The network with these of its units, in this order."""
    return problem.but(W1=problem.W1[:, units], b1=problem.b1[units], W2=problem.W2[units])


@clause(
    "F18",
    over=Problems(least=(1, 1, 2)),
    catches={"skips_the_last_unit", "transposes_equal_widths"},
)
def units_may_come_in_any_order(network: FeedForward, problem: Problem) -> None:
    """A permutation of the units changes nothing.

        y(W1[:, order], b1[order], W2[order]) = y(W1, b1, W2)

    The output is a sum over units. Columns of W1 and rows of W2 are the same units only if no
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
def a_unit_at_zero_passes_nothing_back(network: FeedForward, problem: Problem) -> None:
    """A unit that receives exactly 0 gets no gradient, and passes none on.

        dx = 0, dW1 = 0, db1 = 0    for x W1 + b1 = 0

    Any number between 0 and 1 is a subgradient of max(0, z) at 0, so this is only a `should`. The
    usual choice is 0, as in torch.relu and jax.nn.relu; torch.clamp takes 1, and torch.maximum one
    half. It is asked for by this clause alone: elsewhere a gate at 0 makes no claim.
    """
    silent = problem.but(W1=np.zeros_like(problem.W1), b1=np.zeros_like(problem.b1))
    none = problem.but(x=np.zeros_like(problem.x), b1=np.zeros_like(problem.b1))

    of_silent, of_none = network.backward(silent), network.backward(none)

    same_bits(of_silent.W1, np.zeros_like(problem.W1))
    same_bits(of_silent.b1, np.zeros_like(problem.b1))
    same_bits(of_none.x, np.zeros_like(problem.x))


@clause("F20", over=Problems(families=EXACT), catches={"smooths_the_gate", "saturates"})
def a_factor_may_move_through_the_gate(network: FeedForward, problem: Problem) -> None:
    """A power of two may move from a unit's second weights to its first: not a bit changes.

        y(c W1[:, f], c b1[f], W2[f] / c) = y    for c in 1, 2, 1/2, one for each unit

    max(0, c z) / c = max(0, z) for c > 0, and powers of two round nothing on the way.
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
def the_gradients_of_a_unit_balance(network: FeedForward, problem: Problem) -> None:
    """What a unit's first weights gain with its scale, its second weights gain with theirs.

        sum_e W1[e, f] dW1[e, f] + b1[f] db1[f] = sum_e W2[f, e] dW2[f, e]

    This is F20 differentiated in log c. Zero gradients pass; F3 to F5 reject them.
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
def a_dead_unit_learns_nothing(network: FeedForward, problem: Problem) -> None:
    """A unit whose gate is shut everywhere gets no gradient, and its second weights do nothing.

        dW1[:, f] = 0, db1[f] = 0, dW2[f] = 0    and y does not change by a bit with W2[f]

    Its bias keeps it at -1 or below. Exact zeros: no gradient of size 1e-8 leaks through.
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
