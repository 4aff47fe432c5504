"""Section L. A layer is attention between four projections.

The first clauses compare a layer with the definition, number by number: the output, every
gradient, and the weights. They cover self-attention and cross-attention, with and without
biases, with every kind of mask. Parameter names and masks follow
`torch.nn.MultiheadAttention`: True means masked out. The other clauses check that returning
the weights does not change the output.
"""

import numpy as np

from spec.clause import clause
from spec.comparison import equal
from spec.layer import moves
from spec.layer.domain import EVERY, LayerProblems
from spec.layer.notation import LayerProblem
from spec.layer.proofs import any_number_of_keys, exactly, gradients
from spec.layer.record import Capability, Layer
from spec.layer.rounding import budgets

SHOWN = LayerProblems(asks=("heads", "mean"), training=None)
ASKING = LayerProblems(asks=("nothing", "mean", "heads"))  # each a code path with gradients


@clause(
    "L1",
    over=LayerProblems(hiding=EVERY),
    catches={
        "splits_without_transposing",
        "merges_without_transposing",
        "gives_heads_every_hth_column",
        "joins_heads_in_reverse",
        "projects_with_the_transpose",
        "swaps_the_projections_of_queries_and_keys",
        "projects_values_as_keys",
        "scales_by_the_whole_width",
        "leaves_the_scores_of_a_layer_unscaled",
        "divides_by_the_head_size",
        "scales_by_the_number_of_heads",
        "takes_the_softmax_over_queries",
        "takes_the_softmax_over_heads",
        "exponentiates_the_scores_as_they_are",
        "forgets_the_output_bias",
        "adds_the_query_bias_twice",
        "leaves_out_the_output_projection",
        "loads_keys_before_queries",
        "reads_padding_as_what_may_attend",
    },
    effort=3,
)
def the_output_is_attention_between_projections(layer: Layer, problem: LayerProblem) -> None:
    """The output of a layer is attention between projected inputs, with the heads concatenated and
    projected once more.

        y = [o_1 ... o_H] W_o^T + b_o,    o_h = attention(q_h, k_h, v_h)

    Here q_h = query W_q,h^T + b_q,h with the h-th block of D rows of W_q; k_h and v_h likewise. The
    h-th block of D columns of W_o multiplies o_h. With fewer key heads (G < H), W_k and W_v have G
    blocks, and H/G heads in a row share one. Trained weights need exactly this layout.
    """
    y = layer.forward(problem)

    known = budgets(problem)
    equal(y, known.y, within=known.of_output)


@clause(
    "L2",
    over=ASKING,
    needs={Capability.GRADIENTS},
    catches={
        "differentiates_softmax_by_element_in_a_layer",
        "multiplies_by_the_diagonal_as_a_matrix",
        "forgets_the_way_through_the_keys",
        "forgets_the_way_through_the_queries",
        "sends_gradients_through_the_transpose",
        "forgets_the_output_projection_in_gradients",
    },
    proof=gradients.the_gradients_of_the_inputs_are_the_derivatives,
    effort=2,
)
def input_gradients_match_the_definition(layer: Layer, problem: LayerProblem) -> None:
    """The gradients with respect to query, key and value are those of the closed form.

        dquery = dQ W_q,    dkey = dK W_k,    dvalue = dV W_v

    Here dQ, dK and dV are the gradients of the projected queries, keys and values, heads side by
    side, if the outputs of the heads have the cotangent dC = dout W_o. An array that is passed as
    several inputs receives the sum of their gradients.
    """
    got = layer.backward(problem)

    known = budgets(problem)
    want, within = known.gradients, known.of_gradients
    for name in problem.distinct:
        equal(got.inputs[name], want.inputs[name], within=within.inputs[name])


@clause(
    "L3",
    over=ASKING,
    needs={Capability.GRADIENTS},
    catches={
        "differentiates_softmax_by_element_in_a_layer",
        "multiplies_by_the_diagonal_as_a_matrix",
        "sends_values_to_the_keys_in_gradients",
        "forgets_the_output_projection_in_gradients",
        "averages_weight_gradients_over_the_batch",
        "takes_weight_gradients_from_the_first_batch",
        "transposes_square_weight_gradients",
        "adds_bias_gradients_over_the_first_batch",
        "averages_bias_gradients",
        "swaps_the_gradients_of_keys_and_values",
        "returns_zero_gradients_of_the_output_weights",
    },
    proof=gradients.the_gradients_of_the_parameters_are_the_derivatives,
    effort=2,
)
def parameter_gradients_match_the_definition(layer: Layer, problem: LayerProblem) -> None:
    """The gradient with respect to every parameter equals the closed form.

        dW_q = sum dQ^T query,    db_q = sum dQ    over all rows of all batch elements

    Here dQ is the gradient of the projected queries. The same holds for k and v. For the output,
    dW_o = sum dout^T C and db_o = sum dout, where C holds the outputs of all heads side by side.
    """
    got = layer.backward(problem).parameters.named()

    known = budgets(problem)
    want, within = known.gradients.parameters.named(), known.of_gradients.parameters.named()
    for name, gradient in want.items():
        equal(got[name], gradient, within=within[name])


@clause(
    "L4",
    over=SHOWN,
    needs={Capability.WEIGHTS},
    catches={
        "exponentiates_the_scores_as_they_are",
        "shows_the_mean_for_every_head",
        "shows_the_first_head_for_the_mean",
        "shows_the_sum_of_the_heads",
        "shows_the_weights_transposed",
    },
    effort=2,
)
def layer_weights_are_softmax_per_head_or_head_mean(layer: Layer, problem: LayerProblem) -> None:
    """The returned weights are the softmax of each head, or their mean over heads, as requested.

        a_h,ij = exp(s_h,ij) / sum_j exp(s_h,ij),    mean_ij = sum_h a_h,ij / H

    The mean over heads is what most heat maps show. If heads differ, it is not what any of them
    computed.
    """
    a = layer.weights(problem)

    known = budgets(problem)
    if problem.asks == "mean":
        equal(a, known.weights.mean(axis=1), within=known.of_mean_weights)
    else:
        equal(a, known.weights, within=known.of_weights)


@clause(
    "L5",
    over=SHOWN,
    needs={Capability.WEIGHTS},
    catches={"returns_float_noise_when_asked_for_weights"},
)
def returning_weights_does_not_change_layer_output(layer: Layer, problem: LayerProblem) -> None:
    """The output is the same whether or not the weights are returned.

        y(weights returned) = y

    A fused kernel does not keep the weights, so a request for them takes another code path.
    """
    asked, plain = layer.forward(problem), layer.forward(problem.but(asks="nothing"))

    equal(asked, plain, within=2 * budgets(problem).of_output)


@clause(
    "L51",
    over=LayerProblems(hiding=("none",), least=(1, 1, 1, 2), asks=("heads", "mean")),
    needs={Capability.WEIGHTS, Capability.MASK, Capability.STILL},
    catches={"fills_hidden_scores_when_asked_for_weights"},
    proof=exactly.the_only_visible_key_has_all_the_weight,
)
def only_visible_key_is_kept_when_returning_weights(layer: Layer, problem: LayerProblem) -> None:
    """Even if the weights are returned, the only unmasked key of a query has a weight of one,
    however low its score is.

        y_i = y_i(W_q = 0, b_q = 0)    if only key j is unmasked for query i, whatever s_ij is

    With W_q = 0 and b_q = 0 all scores are zero, so none is low. L49 is the same claim without
    returned weights. The code path that keeps the weights may mask keys in another way, for example
    by filling in a finite number.
    """
    low = moves.outscored(problem)
    flat = moves.asking_nothing(low)

    y = layer.forward(low)

    equal(y, budgets(flat).y, within=budgets(flat).of_output)


@clause(
    "L6",
    over=LayerProblems(asks=("mean",)),
    needs={Capability.WEIGHTS, Capability.EACH_HEAD},
    catches={"shows_the_first_head_for_the_mean", "shows_the_sum_of_the_heads"},
)
def mean_weights_are_the_mean_over_heads(layer: Layer, problem: LayerProblem) -> None:
    """The returned mean weights are the mean of the weights that are returned for each head.

        mean_ij = sum_h a_h,ij / H

    The check compares two results of the layer. It does not show that the weights are right.
    """
    mean = layer.weights(problem)
    heads = layer.weights(problem.but(asks="heads"))

    known = budgets(problem)
    within = known.of_mean_weights + known.of_weights.mean(axis=1)
    equal(mean, heads.mean(axis=1), within=within)


@clause(
    "L7",
    over=SHOWN,
    needs={Capability.WEIGHTS},
    catches={"shows_the_sum_of_the_heads"},
    proof=any_number_of_keys.weights_sum_to_one,
)
def the_weights_of_every_query_sum_to_one(layer: Layer, problem: LayerProblem) -> None:
    """The weights of a query sum to one, in each head and in the mean over heads.

        sum_j a_h,ij = 1    if query i has a visible key in every head

    L32 is about fully masked queries, and section D about dropout.
    """
    a = layer.weights(problem)

    known = budgets(problem)
    within = known.of_mean_weights if problem.asks == "mean" else known.of_weights
    equal(a.sum(axis=-1), np.ones(a.shape[:-1]), within=within.sum(axis=-1))
