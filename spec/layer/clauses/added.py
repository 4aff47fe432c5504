"""Section L, continued. A float mask is added to the scores of a layer.

The mask is added after the scale. An entry of 0 leaves a score as it is, -inf masks the key,
and any other number is a preference. A constant that is added to a whole row changes
nothing. A query whose biases are all very negative therefore still attends to its keys.
"""

import numpy as np

from spec.attention import masks
from spec.clause import clause
from spec.comparison import equal
from spec.layer import moves
from spec.layer.domain import LayerProblems
from spec.layer.notation import LayerProblem
from spec.layer.proofs import exactly
from spec.layer.record import Capability, Layer
from spec.layer.rounding import budgets


@clause(
    "L28",
    over=LayerProblems(hiding=("mask", "mask of heads", "mask and padding")),
    needs={Capability.BIAS},
    catches={"adds_a_mask_of_truth_values"},
    proof=exactly.truth_values_are_minus_infinity,
)
def layer_boolean_mask_equals_additive_mask(layer: Layer, problem: LayerProblem) -> None:
    """A boolean mask gives the same output as an additive mask that is -inf where it is True.

        y(mask) = y(-inf where mask, 0 elsewhere)

    In a layer, True means masked out. In an attention function it means that the query may attend
    to the key (M1), and the two are often confused.
    """
    assert problem.mask is not None
    added = problem.but(mask=np.where(problem.mask, -np.inf, 0.0))

    y, p = layer.forward(problem), layer.forward(added)

    equal(p, y, within=budgets(problem).of_output + budgets(added).of_output)


@clause(
    "L46",
    over=LayerProblems(hiding=("none",)),
    needs={Capability.BIAS, Capability.MASK, Capability.FUTURE},
    catches={"takes_low_biases_of_a_layer_for_a_mask", "adds_a_mask_in_half_precision"},
)
def layer_largest_bias_wins_if_all_are_very_negative(layer: Layer, problem: LayerProblem) -> None:
    """If a row of an additive mask has only finite, very negative entries, its query still attends
    to the keys with the largest entry.

        W_q = 0, b_q = 0, bias_ij in {c_i, 2 c_i}  implies  y = y(key j masked where 2 c_i)

    Here bias is the mask, and c_i a very negative number. M22 is the same claim about attention.
    Callers often pass the lowest finite number instead of -inf. If a sequence is padded on the
    left, some rows of its mask contain only that number.
    """
    bias, least_low = masks.low(problem.chance(), problem.N, problem.M, problem.dtype)
    flat = moves.asking_nothing(problem).but(mask=~least_low)

    y = layer.forward(flat.but(mask=bias))

    equal(y, budgets(flat).y, within=budgets(flat).of_output)


@clause(
    "L50",
    over=LayerProblems(
        hiding=("bias", "bias of heads", "bias and padding"),
        arrays=(1,),
        biases=("b_o",),
        training=False,
        least=(1, 1, 2, 2),
    ),
    catches={"takes_numbers_for_truth_values_in_evaluation"},
    effort=3,
)
def additive_mask_is_added_in_evaluation_mode(layer: Layer, problem: LayerProblem) -> None:
    """A float mask b is added to the scores in evaluation mode, as it is in training mode.

        y(evaluation) = [o_1 ... o_H] W_o^T + b_o,    o_h = attention(q_h, k_h, v_h; b)

    The fast path for self-attention is separate code, and may support boolean masks only. It then
    masks every key whose entry is not zero, or no key. The entry of the first key is zero here, so
    a layer with this bug still attends to one key and returns wrong numbers, not NaN.
    """
    assert problem.mask is not None
    bias = problem.mask.copy()
    bias[..., 0] = 0.0
    added = problem.but(mask=bias)

    y = layer.forward(added)

    equal(y, budgets(added).y, within=budgets(added).of_output)
