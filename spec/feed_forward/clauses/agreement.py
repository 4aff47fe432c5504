"""Section F. The feed-forward network: two linear maps, and a gate between them.

What lies between attention and attention in a transformer is a network of two layers,
the same at every position (Vaswani et al. 2017, section 3.3):

    y = max(0, x W1 + b1) W2 + b2

A unit f receives z_f = <x, W1[:, f]> + b1[f]; where that is positive its gate is open, and
it adds z_f W2[f] to the output. So the output is a sum over open units, and b2. Given
which gates are open, the network is linear in each of its arrays, and that is all there is
to its gradients. Here output and gradients are held to the definition.
"""

from spec.attention.options import Capability
from spec.clause import clause
from spec.comparison import equal
from spec.feed_forward import proofs
from spec.feed_forward.domain import Problems
from spec.feed_forward.notation import FeedForward, Problem
from spec.feed_forward.rounding import bounds, of_gradients, of_output


@clause(
    "F1",
    over=Problems(),
    catches={
        "leaves_out_the_gate",
        "gates_the_output_too",
        "gates_after_the_second_map",
        "forgets_the_inner_bias",
        "adds_the_outer_bias_twice",
        "leaks_below_zero",
        "smooths_the_gate",
        "rounds_what_units_hold",
    },
)
def the_output_is_that_of_the_definition(network: FeedForward, problem: Problem) -> None:
    """The output is two linear maps with a gate between them.

        y = max(0, x W1 + b1) W2 + b2

    Every budget is per element: what a right implementation may round, in any order of sums.
    """
    y = network.forward(problem)

    equal(y, bounds(problem).y, within=of_output(problem))


@clause(
    "F2",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={"forgets_the_gate_backward", "gates_by_the_output", "gates_by_the_cotangent"},
    proof=proofs.the_gradients_are_the_derivatives,
)
def the_gradient_of_x_is_that_of_the_definition(network: FeedForward, problem: Problem) -> None:
    """The gradient of <dy, y> by the input passes through open gates only.

        dx = ([z > 0] dy W2^T) W1^T

    A gate that rounding might have opened or shut makes no claim: see the budget.
    """
    dx = network.backward(problem).x

    equal(dx, bounds(problem).gradients.x, within=of_gradients(problem).x)


@clause(
    "F3",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={"forgets_the_gate_backward", "gates_by_the_cotangent"},
    proof=proofs.the_gradients_are_the_derivatives,
)
def the_gradient_of_W1_is_that_of_the_definition(network: FeedForward, problem: Problem) -> None:
    """The gradient by the first weights pairs each input with what its units pass back.

        dW1 = sum x^T dz

    The sum goes over all positions of all batch elements, for they share the weights.
    """
    dW1 = network.backward(problem).W1

    equal(dW1, bounds(problem).gradients.W1, within=of_gradients(problem).W1)


@clause(
    "F4",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={"forgets_the_gate_backward", "sums_the_inner_bias_over_one_batch_element"},
    proof=proofs.the_gradients_are_the_derivatives,
)
def the_gradient_of_b1_is_that_of_the_definition(network: FeedForward, problem: Problem) -> None:
    """The gradient by the first bias is the sum of what the units pass back.

        db1 = sum dz

    A bias is the weight of an input that is 1 everywhere.
    """
    db1 = network.backward(problem).b1

    equal(db1, bounds(problem).gradients.b1, within=of_gradients(problem).b1)


@clause(
    "F5",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={"pairs_cotangents_with_what_units_receive"},
    proof=proofs.the_gradients_are_the_derivatives,
)
def the_gradient_of_W2_is_that_of_the_definition(network: FeedForward, problem: Problem) -> None:
    """The gradient by the second weights pairs what units hold with the cotangent.

        dW2 = sum h^T dy

    Not what they receive: a unit whose gate is shut holds 0, and learns nothing.
    """
    dW2 = network.backward(problem).W2

    equal(dW2, bounds(problem).gradients.W2, within=of_gradients(problem).W2)


@clause(
    "F6",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={"averages_the_bias_gradient", "sums_the_bias_gradient_over_the_batch_only"},
    proof=proofs.the_gradients_are_the_derivatives,
)
def the_gradient_of_b2_is_the_sum_of_the_cotangents(network: FeedForward, problem: Problem) -> None:
    """The gradient by the second bias is the sum of all cotangents.

        db2 = sum dy

    No gate lies between b2 and the output, and no weight: nothing of the problem but dy enters.
    """
    db2 = network.backward(problem).b2

    equal(db2, bounds(problem).gradients.b2, within=of_gradients(problem).b2)
