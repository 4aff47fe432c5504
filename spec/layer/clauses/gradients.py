"""Section L, continued. Symmetries of the heads give identities between gradients.

A loss that is constant along a direction has a derivative of zero along it. L11 and L12 give
such directions, D^2 of each kind for every head. Their derivatives are as many identities
between the gradients of two projections, for any data:

    W_q,h dW_q,h^T + b_q,h db_q,h^T = dW_k,h W_k,h^T + db_k,h b_k,h^T
    W_v,h dW_v,h^T + b_v,h db_v,h^T = dW_o,h^T W_o,h

where W_o,h are the columns of head h. Zero gradients satisfy both, so L20 adds an identity
that they violate. L22 checks a step of gradient descent.
"""

import numpy as np

from spec.attention.rounding.linear import through, weighted
from spec.clause import clause
from spec.comparison import equal
from spec.layer import moves
from spec.layer.domain import LayerProblems
from spec.layer.notation import LayerProblem
from spec.layer.proofs import gradients
from spec.layer.record import Capability, Layer
from spec.layer.rounding import budgets

GRADIENTS = {Capability.GRADIENTS}


@clause(
    "L18",
    over=LayerProblems(grouped=False),
    needs={*GRADIENTS, Capability.STILL},
    catches={
        "transposes_square_weight_gradients",
        "sends_values_to_the_keys_in_gradients",
        "takes_weight_gradients_from_the_first_batch",
        "gives_the_key_bias_the_gradient_of_the_query_bias",
    },
    proof=gradients.query_and_key_weights_learn_alike,
    effort=2,
)
def query_and_key_weight_gradients_balance(layer: Layer, problem: LayerProblem) -> None:
    """In every head, the matrix W dW^T + b db^T of the query projection is the transpose of that of
    the key projection, if each head has keys of its own.

        W_q dW_q^T + b_q db_q^T = dW_k W_k^T + db_k b_k^T    (D x D, for the rows of a head)

    Here dW and db are the gradients of the weights W and the bias b. This is L11 differentiated: if
    an invertible matrix multiplies the queries, and its transposed inverse the keys, the scores do
    not change. The identity holds even if the gradient of the scores is wrong; L3 checks that
    gradient.
    """
    got, known = layer.backward(problem).parameters, budgets(problem).of_gradients.parameters
    p = problem.parameters

    for head in range(problem.H):
        own = moves.rows(problem, head)
        W, V = p.with_bias("q")[own], p.with_bias("k")[own]
        left = W @ got.with_bias("q")[own].T
        right = got.with_bias("k")[own] @ V.T
        of_left = through(W, known.with_bias("q")[own].T)
        of_right = through(V, known.with_bias("k")[own].T).T
        equal(left, right, within=of_left + of_right)


@clause(
    "L19",
    over=LayerProblems(grouped=False),
    needs=GRADIENTS,
    catches={
        "transposes_square_weight_gradients",
        "returns_zero_gradients_of_the_output_weights",
        "forgets_the_output_projection_in_gradients",
    },
    proof=gradients.value_and_output_weights_learn_alike,
    effort=2,
)
def value_and_output_weight_gradients_balance(layer: Layer, problem: LayerProblem) -> None:
    """In every head, the matrix W dW^T + b db^T of the value projection equals dW^T W of the output
    projection.

        W_v dW_v^T + b_v db_v^T = dW_o^T W_o    (D x D, for the rows and columns of a head)

    Here dW and db are the gradients of the weights W and the bias b. This is L12 (values rescaled
    against W_o) differentiated. A single transposed or zero gradient breaks the identity.
    """
    got, known = layer.backward(problem).parameters, budgets(problem).of_gradients.parameters
    p = problem.parameters

    for head in range(problem.H):
        own = moves.rows(problem, head)
        W, V = p.with_bias("v")[own], p.W_o[:, own].T
        left = W @ got.with_bias("v")[own].T
        right = got.W_o[:, own].T @ V.T
        of_left = through(W, known.with_bias("v")[own].T)
        of_right = through(V, known.W_o[:, own]).T
        equal(left, right, within=of_left + of_right)


@clause(
    "L20",
    over=LayerProblems(biases=()),
    needs=GRADIENTS,
    catches={
        "returns_zero_gradients_of_the_output_weights",
        "averages_weight_gradients_over_the_batch",
    },
    proof=gradients.the_output_weights_account_for_the_loss,
)
def output_weights_dot_their_gradient_equals_loss(layer: Layer, problem: LayerProblem) -> None:
    """Without biases, the loss <dout, y> equals the inner product of W_o and its gradient.

        <W_o, dW_o> = <dout, y>

    The loss is linear in W_o. (This is Euler's theorem for a function that is homogeneous of degree
    one.) Zero gradients violate the equation unless the loss is zero.
    """
    y, dW = layer.forward(problem), layer.backward(problem).parameters.W_o

    known, W = budgets(problem), problem.parameters.W_o
    within = weighted(W, known.of_gradients.parameters.W_o).sum()
    within += weighted(problem.dout, known.of_output).sum()
    equal(np.sum(W * dW)[None], np.sum(problem.dout * y)[None], within=within)


@clause(
    "L21",
    over=LayerProblems(arrays=(1,)),
    needs={*GRADIENTS, Capability.APART},
    catches={"forgets_a_way_of_self_attention"},
    proof=gradients.a_token_learns_along_three_ways,
)
def self_attention_gradient_sums_query_key_value_paths(layer: Layer, problem: LayerProblem) -> None:
    """In self-attention, the input gradient is the sum of the gradients of query, key and value.

        dx = dquery + dkey + dvalue

    Each token is used as query, key and value. A call with three equal arrays returns dquery, dkey
    and dvalue. The bug that this catches loses one of the three.
    """
    apart = problem.but(arrays=3)

    whole, parts = layer.backward(problem).inputs["query"], layer.backward(apart).inputs

    known, three = budgets(problem).of_gradients.inputs, budgets(apart).of_gradients.inputs
    within = known["query"] + three["query"] + three["key"] + three["value"]
    equal(whole, parts["query"] + parts["key"] + parts["value"], within=within)


@clause(
    "L22",
    over=LayerProblems(),
    needs={Capability.STEP, Capability.GRADIENTS},
    catches={"climbs", "steps_twice_as_far", "averages_weight_gradients_over_the_batch"},
)
def sgd_step_subtracts_rate_times_gradient(layer: Layer, problem: LayerProblem) -> None:
    """A step of gradient descent subtracts the rate times the gradient from every parameter.

        p' = p - rate dp

    The rate is a power of two here, so only a subnormal product is rounded.
    """
    rate = 2.0**-6
    moved = layer.step(problem, rate).named()

    known = budgets(problem)
    slopes, within = known.gradients.parameters.named(), known.of_step(rate).named()
    for name, before in problem.parameters.named().items():
        equal(moved[name], before - rate * slopes[name], within=within[name])
