"""Section L, continued. The effect of each bias on the output and on the gradients.

A key bias adds <q_i, b_k> / sqrt(D) to every score of a query, and a softmax ignores such a
constant (K1). The key bias therefore has no effect, and its gradient is zero. A value bias
is added to every value. Weights sum to one (S1), so it is added to every output of the head,
and appears in y as W_o b_v. Only the query bias changes the weights. The gradients agree
with this: db_v = W_o^T db_o.
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
def key_bias_does_not_change_output(layer: Layer, problem: LayerProblem) -> None:
    """The output does not depend on the bias of the key projection.

        y(b_k) = y(0)

    The bias shifts all scores of a query by <q_i, b_k> / sqrt(D), which a softmax ignores. If
    stacked biases are loaded in the wrong order, b_k acts as another bias and changes the output.
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
def key_bias_gradient_is_zero(layer: Layer, problem: LayerProblem) -> None:
    """The gradient with respect to the key bias is zero.

        db_k = sum_bj dk_bj = 0

    This is L13 differentiated, and K2 inside the layer. Only rounding errors may remain.
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
def value_bias_is_added_through_output_projection(layer: Layer, problem: LayerProblem) -> None:
    """The value bias adds the constant W_o b_v to every output.

        y(b_v) = y(0) + W_o b_v

    Weights sum to one, so a constant that is added to all values is added to their weighted mean. A
    fully masked query has no such mean, so these problems contain none.
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
def output_bias_gradient_is_sum_of_cotangents(layer: Layer, problem: LayerProblem) -> None:
    """The gradient with respect to the output bias is the sum of the cotangents.

        db_o = sum_bi dout_bi

    The cotangent dout is the gradient with respect to the output. The bias is added to every row of
    every batch element, so every row contributes to its gradient.
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
def value_bias_gradient_follows_from_output_bias_gradient(
    layer: Layer, problem: LayerProblem
) -> None:
    """The gradient of the value bias is the gradient of the output bias, multiplied by W_o^T.

        db_v = W_o^T db_o

    This is L15 differentiated: a value bias b_v has the same effect as W_o b_v added to b_o.
    """
    got = layer.backward(problem).parameters.named()

    W, known = problem.parameters.W_o.T, budgets(problem).of_gradients.parameters.named()
    seen, within = W.astype(got["b_v"].dtype) @ got["b_o"], through(W, known["b_o"])
    equal(got["b_v"], seen, within=known["b_v"] + within)
