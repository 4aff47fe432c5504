"""Section L, continued. What is added to the scores of a layer.

A mask of numbers is added to the scores, after the scale: 0 leaves a key as it is, -inf forbids
it, and everything between is a preference. What is the same along a row does nothing, and so
nothing is hidden from a query whose keys are all given a low number, however low.
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
def a_mask_of_truth_values_is_an_additive_one(layer: Layer, problem: LayerProblem) -> None:
    """True and False are -inf and 0: in a layer, True forbids.

        y(mask) = y(-inf where mask, 0 elsewhere)

    An attention function says it the other way round (M1), and the two are often confused.
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
def a_low_bias_of_a_layer_hides_nothing_by_itself(layer: Layer, problem: LayerProblem) -> None:
    """Where every bias is low, the keys whose bias is least low are seen.

        W_q = 0, b_q = 0, bias_ij in {c_i, 2 c_i}  implies  y = y(key j hidden where 2 c_i)

    As M22 has it of attention. Masks of the lowest number are what layers are often given for
    -inf, and a text that is padded on the left has rows of nothing else.
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
def what_is_added_is_added_in_evaluation(layer: Layer, problem: LayerProblem) -> None:
    """In evaluation too, a mask of numbers is added to the scores.

        y(evaluation) = [o_1 ... o_H] W_o^T + b_o,    o_h = attention(q_h, k_h, v_h; b)

    The fast path of a layer that reads one text is a program of its own, and may know of no masks
    but those of truth values: then every number but zero hides, or none does. The first key
    has zero here, so that who reads them so sees something, and what is wrong is a number.
    """
    assert problem.mask is not None
    bias = problem.mask.copy()
    bias[..., 0] = 0.0
    added = problem.but(mask=bias)

    y = layer.forward(added)

    equal(y, budgets(added).y, within=budgets(added).of_output)
