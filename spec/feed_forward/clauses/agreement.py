"""Section F. The feed-forward network is two linear maps with a ReLU between them.

A transformer has this network between its attention layers, the same at every position
(Vaswani et al. 2017, section 3.3):

    y = max(0, x W1 + b1) W2 + b2

A hidden unit f has the pre-activation z_f = <x, W1[:, f]> + b1[f]. If z_f is positive, the
unit is active (its gate is open), and it adds z_f W2[f] to the output. The output is
therefore a sum over active units, plus b2. Once it is known which units are active, the
network is linear in each of its arrays, and its gradients follow. These clauses compare
output and gradients with the definition.
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
def feed_forward_output_matches_definition(network: FeedForward, problem: Problem) -> None:
    """The output is two linear maps with a ReLU between them.

        y = max(0, x W1 + b1) W2 + b2

    Each element has its own error bound, which covers the rounding of a correct implementation in
    any order of sums.
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
def gradient_of_x_matches_definition(network: FeedForward, problem: Problem) -> None:
    """The gradient of <dy, y> with respect to the input passes through active units only.

        dx = ([z > 0] * (dy W2^T)) W1^T    where z = x W1 + b1

    Here dy is the gradient with respect to the output y, and a unit is active where z > 0. At
    z = 0, and where rounding could change the sign of z, the error bound allows either case.
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
def gradient_of_W1_matches_definition(network: FeedForward, problem: Problem) -> None:
    """The gradient with respect to W1 sums the products of inputs and pre-activation gradients.

        dW1 = sum x^T dz    where dz = [z > 0] * (dy W2^T) and z = x W1 + b1

    All positions of all batch elements share the weights, so the sum runs over all of them. Here dy
    is the gradient with respect to the output y. At z = 0 the error bound allows either case.
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
def gradient_of_b1_matches_definition(network: FeedForward, problem: Problem) -> None:
    """The gradient with respect to b1 is the sum of the gradients of the pre-activations.

        db1 = sum dz    where dz = [z > 0] * (dy W2^T) and z = x W1 + b1

    A bias is the weight of an input that is 1 everywhere, so the sum runs over all positions of all
    batch elements. Here dy is the gradient with respect to y. At z = 0 either case is allowed.
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
def gradient_of_W2_matches_definition(network: FeedForward, problem: Problem) -> None:
    """The gradient with respect to W2 sums the products of the activations and the cotangents.

        dW2 = sum h^T dy    over all positions of all batch elements

    Here h = max(0, x W1 + b1) are the activations, and the cotangents dy are the gradient with
    respect to the output. Where a unit is inactive, h = 0, so that position adds nothing to the
    gradient of its row of W2. The known bug uses pre-activations instead of activations.
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
def gradient_of_b2_is_sum_of_cotangents(network: FeedForward, problem: Problem) -> None:
    """The gradient with respect to b2 is the sum of all cotangents.

        db2 = sum dy    over all positions of all batch elements

    There is no ReLU and no weight between b2 and the output, so the gradient depends on the
    cotangents dy alone.
    """
    db2 = network.backward(problem).b2

    equal(db2, bounds(problem).gradients.b2, within=of_gradients(problem).b2)
