"""Section L. A layer is attention between four projections.

The first clauses hold a layer to the definition, number by number: the output, every
gradient, the weights, on self-attention and between texts, with biases and without, with
masks of every form. A torch layer is judged under its own names and polarities: True in a
mask forbids. Then what is returned beside the output must leave the output alone.
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
ASKING = LayerProblems(asks=("nothing", "mean", "heads"))  # a path each, which is differentiated


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
    """The output of a layer is attention between projections, joined and projected once more.

        y = [o_1 ... o_H] W_o^T + b_o,    o_h = attention(q_h, k_h, v_h)

    Head h reads rows hD to (h + 1)D of the three projections, and its output is read by as many
    columns of W_o. Weights that were trained elsewhere mean something only then.
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
def the_gradients_of_the_inputs_are_the_derivatives(layer: Layer, problem: LayerProblem) -> None:
    """The gradients by query, key and value are the closed form.

        dquery = dQ W_q,    dkey = dK W_k,    dvalue = dV W_v

    where attention sends dQ, dK and dV back for dC = dout W_o. One array that is several of
    them gets their sum.
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
def the_gradients_of_the_parameters_are_the_derivatives(
    layer: Layer, problem: LayerProblem
) -> None:
    """The gradient by every parameter is the closed form.

        dW_q = sum dQ^T query,    db_q = sum dQ    over all rows of all batch elements

    and likewise for k and v; dW_o = sum dout^T C, db_o = sum dout.
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
def the_weights_of_a_layer_are_those_that_it_used(layer: Layer, problem: LayerProblem) -> None:
    """The weights that are returned are the softmax of each head, or their mean, as asked.

        a_h,ij = exp(s_h,ij) / sum_j exp(s_h,ij),    mean_ij = sum_h a_h,ij / H

    The mean over heads is what most heat maps show. It is not what any head did.
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
def asking_for_weights_changes_nothing(layer: Layer, problem: LayerProblem) -> None:
    """The output is the same whether weights are asked for or not.

        y(asked for weights) = y

    A kernel that keeps no weights cannot show them, so asking for them takes another path.
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
def asking_for_weights_loses_no_key(layer: Layer, problem: LayerProblem) -> None:
    """Asked for weights too, a query that sees one key returns its value, however low its score is.

        y_i = y_i(W_q = 0, b_q = 0)    if i sees one key alone, whatever s_ij is

    As L49 has it of who is not asked: the path that keeps weights hides keys in a way of its own.
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
def the_mean_is_the_mean_of_the_heads(layer: Layer, problem: LayerProblem) -> None:
    """What is returned as the mean is the mean of what is returned for the heads.

        mean_ij = sum_h a_h,ij / H

    It holds of what the layer says itself, whatever its weights are.
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
    """The weights of a query sum to one, those of a head and those of the mean.

        sum_j a_h,ij = 1

    After dropout they would not; what is returned then is another thing (D).
    """
    a = layer.weights(problem)

    known = budgets(problem)
    within = known.of_mean_weights if problem.asks == "mean" else known.of_weights
    equal(a.sum(axis=-1), np.ones(a.shape[:-1]), within=within.sum(axis=-1))
