"""Section F, continued. Without biases the network is homogeneous.

max(0, lambda z) = lambda max(0, z) for lambda >= 0. So with b1 = 0 and b2 = 0

    F(lambda x) = lambda F(x)    for every lambda >= 0                  (F13, F14)

GELU and the sigmoid do not have this property: one is curved, the other saturates. Powers of two
rescale every sum without rounding, so for them equality is required to the bit. Each bias is
added exactly once (F15, F16).
"""

import numpy as np

from spec.clause import clause
from spec.comparison import equal, same_bits
from spec.entries import EXACT
from spec.feed_forward import proofs
from spec.feed_forward.domain import Problems
from spec.feed_forward.notation import FeedForward, Problem
from spec.feed_forward.rounding import bounds, of_output


def unbiased(problem: Problem) -> Problem:
    """The same network with both biases set to zero."""
    return problem.but(b1=np.zeros(problem.F), b2=np.zeros(problem.E))


@clause("F13", over=Problems(families=EXACT), catches={"smooths_the_gate", "saturates"})
def doubling_the_input_doubles_the_output(network: FeedForward, problem: Problem) -> None:
    """Without biases, doubling the input doubles the output, bit for bit.

        F(2 x) = 2 F(x)    for b1 = 0, b2 = 0

    Doubling changes only exponents and no digit, so every product and every sum doubles exactly.
    """
    problem = unbiased(problem)

    y, doubled = network.forward(problem), network.forward(problem.but(x=2 * problem.x))

    same_bits(doubled, 2 * y)


@clause(
    "F14",
    over=Problems(families=EXACT),
    catches={"smooths_the_gate", "saturates", "normalises_each_position"},
    proof=proofs.the_network_is_homogeneous,
)
def network_without_biases_is_homogeneous(network: FeedForward, problem: Problem) -> None:
    """Without biases, a nonnegative factor of the input is a factor of the output.

        F(lambda x) = lambda F(x)    for lambda in 0, 1/2, 3, and b1 = 0, b2 = 0

    Whether a unit is active does not depend on the size of its pre-activation. A negative factor
    would make active units inactive.
    """
    problem = unbiased(problem)
    y, budget = network.forward(problem), of_output(problem)

    for factor in (0.0, 0.5, 3.0):
        scaled = problem.but(x=factor * problem.x)
        within = of_output(scaled) + factor * budget
        equal(network.forward(scaled), factor * y, within=within)


@clause(
    "F15",
    over=Problems(),
    catches={
        "forgets_the_inner_bias",
        "adds_the_outer_bias_twice",
        "adds_the_inner_bias_after_the_gate",
    },
)
def zero_input_applies_both_biases(network: FeedForward, problem: Problem) -> None:
    """On an input of zeros, the output is the positive part of b1, times W2, plus b2.

        F(0) = max(0, b1) W2 + b2

    The output then depends on the biases and W2 alone. A bias that is missing, added twice, or
    added at the wrong step shows here.
    """
    nothing = problem.but(x=np.zeros_like(problem.x))

    y = network.forward(nothing)

    equal(y, bounds(nothing).y, within=of_output(nothing))


@clause(
    "F16",
    over=Problems(),
    catches={"adds_the_outer_bias_twice", "adds_the_outer_bias_on_each_shard"},
)
def second_bias_is_added_exactly_once(network: FeedForward, problem: Problem) -> None:
    """The second bias is added to the output exactly once.

        y(b2) - y(0) = b2    where y(0) is the output with zeros in place of b2

    If it is added once for each head, unit or device, the output contains a multiple of it.
    """
    without = problem.but(b2=np.zeros(problem.E))

    y, rest = network.forward(problem), network.forward(without)

    within = of_output(problem) + of_output(without)
    equal(y - rest, np.broadcast_to(problem.b2, y.shape), within=within)


@clause(
    "F17",
    over=Problems(families=EXACT),
    catches={"gates_after_the_second_map", "transposes_equal_widths"},
    proof=proofs.the_output_is_linear_in_W2,
    effort=2,
)
def the_output_is_linear_in_the_second_weights(network: FeedForward, problem: Problem) -> None:
    """The output minus b2 is a linear function of the second weights.

        y(W2 + C) = y(W2) + y(C)    for b2 = 0

    Everything after the ReLU is linear. In the check the matrix C is 1 in row f and column c, and
    zero elsewhere. So y(C) is the activation of unit f in column c, and zero in all other columns.
    """
    problem = problem.but(b2=np.zeros(problem.E))
    f, c = problem.seed % problem.F, problem.seed % problem.E
    C = np.zeros((problem.F, problem.E))
    C[f, c] = 1.0
    both, reading = problem.but(W2=problem.W2 + C), problem.but(W2=C)

    y, z, one = (network.forward(p) for p in (problem, both, reading))

    within = of_output(problem) + of_output(both) + of_output(reading)
    equal(z, y + one, within=within)
    equal(one[..., c], bounds(problem).h[..., f], within=of_output(reading)[..., c])
    same_bits(np.delete(one, c, axis=-1), np.zeros((problem.B, problem.N, problem.E - 1)))
