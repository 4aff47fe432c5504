"""Section L, continued. What the biases do, each in its place.

A key bias adds <q_i, b_k> / sqrt(D) to every score of a query, and a softmax does not see that
(K1): the bias does nothing, and its gradient is zero. A value bias is added to every value, and
weights sum to one (S1), so it is added to every output of the head: it passes through as
W_o b_v. The query bias is the one that matters to scores. The gradients say the same:
db_v = W_o^T db_o.
"""

from dataclasses import replace

import numpy as np

from spec.attention.rounding.linear import through
from spec.clause import clause
from spec.comparison import equal
from spec.layer.domain import LayerProblems
from spec.layer.notation import LayerProblem
from spec.layer.proofs import any_number_of_keys, gradients
from spec.layer.record import Capability, Layer
from spec.layer.rounding import budgets

KEYS = LayerProblems(biases=("b_k",))
VALUES = LayerProblems(biases=("b_v",), grouped=False)
OUTPUTS = LayerProblems(biases=("b_o",))


@clause(
    "L13",
    over=KEYS,
    needs={Capability.STILL},
    catches={"loads_keys_before_queries", "adds_the_key_bias_to_values"},
    proof=any_number_of_keys.the_key_bias_does_nothing,
    effort=2,
)
def the_key_bias_does_nothing(layer: Layer, problem: LayerProblem) -> None:
    """The bias of the key projection may be anything.

        y(b_k) = y(0)

    It moves all scores of a query by <q_i, b_k> / sqrt(D). Stacked in a wrong order, it is another
    bias.
    """
    without = problem.of(b_k=np.zeros_like(problem.parameters.named()["b_k"]))

    y, p = layer.forward(problem), layer.forward(without)

    equal(p, y, within=budgets(problem).of_output + budgets(without).of_output)


@clause(
    "L14",
    over=KEYS,
    needs={Capability.GRADIENTS, Capability.STILL},
    catches={
        "gives_the_key_bias_the_gradient_of_the_query_bias",
        "multiplies_by_the_diagonal_as_a_matrix",
    },
    proof=any_number_of_keys.the_key_bias_learns_nothing,
)
def the_key_bias_learns_nothing(layer: Layer, problem: LayerProblem) -> None:
    """The gradient of the key bias is zero.

        db_k = sum_bj dk_bj = 0

    This is L13 differentiated, and K2 inside the layer. Rounding is all that is left of it.
    """
    db = layer.backward(problem).parameters.named()["b_k"]

    within = budgets(problem).of_gradients.parameters.named()["b_k"]
    equal(db, np.zeros(db.shape), within=within)


@clause(
    "L15",
    over=VALUES,
    catches={"forgets_the_value_bias", "leaves_out_the_output_projection"},
    proof=any_number_of_keys.the_value_bias_passes_through,
)
def the_value_bias_passes_through(layer: Layer, problem: LayerProblem) -> None:
    """The bias of the values is added to every output, through W_o.

        y(b_v) = y(0) + W_o b_v

    Weights sum to one, so a constant added to all values is added to their mean. An idle query
    has no mean, and is not drawn.
    """
    b = problem.parameters.named()["b_v"]
    without = problem.of(b_v=np.zeros_like(b))

    y, p = layer.forward(problem), layer.forward(without)

    exact = problem.parameters.W_o.astype(p.dtype) @ b
    equal(y, p + exact, within=budgets(problem).of_output + budgets(without).of_output)


@clause(
    "L16",
    over=OUTPUTS,
    needs={Capability.GRADIENTS},
    catches={"adds_bias_gradients_over_the_first_batch", "averages_bias_gradients"},
    proof=gradients.the_output_bias_learns_the_sum_of_the_cotangents,
)
def the_output_bias_learns_the_sum_of_the_cotangents(layer: Layer, problem: LayerProblem) -> None:
    """The gradient of the output bias is the sum of the cotangents.

        db_o = sum_bi dout_bi

    The bias is added to every row of every batch element, so every row teaches it.
    """
    db = layer.backward(problem).parameters.named()["b_o"]

    within = budgets(problem).of_gradients.parameters.named()["b_o"]
    equal(db, problem.dout.astype(db.dtype).sum(axis=(0, 1)), within=within)


@clause(
    "L17",
    over=replace(VALUES, biases=("b_v", "b_o")),
    needs={Capability.GRADIENTS},
    catches={"forgets_the_output_projection_in_gradients"},
    proof=any_number_of_keys.the_value_bias_learns_through_the_output_weights,
)
def the_value_bias_learns_through_the_output_weights(layer: Layer, problem: LayerProblem) -> None:
    """The gradient of the value bias is that of the output bias, seen through W_o.

        db_v = W_o^T db_o

    This is L15 differentiated: b_v and W_o b_v as a part of b_o are the same thing.
    """
    got = layer.backward(problem).parameters.named()

    W, known = problem.parameters.W_o.T, budgets(problem).of_gradients.parameters.named()
    seen, within = W.astype(got["b_v"].dtype) @ got["b_o"], through(W, known["b_o"])
    equal(got["b_v"], seen, within=known["b_v"] + within)
