"""Section L, continued. A fully masked query returns the output bias.

Its heads return zero, the empty sum of values, so only the bias of [o_1 ... o_H] W_o^T + b_o
remains. A softmax over no key is 0 / 0. Every code path has to handle this case separately:
the fused kernel, the path that returns the weights, and the fast path of evaluation mode.
"""

import numpy as np

from spec.clause import clause
from spec.comparison import equal
from spec.layer import moves
from spec.layer.domain import IDLE, LayerProblems
from spec.layer.notation import LayerProblem
from spec.layer.proofs import exactly
from spec.layer.record import Capability, Layer
from spec.notation import Array


def idle_rows_are_the_output_bias(y: Array, problem: LayerProblem) -> None:
    """Raise Violation unless every fully masked row of an output is b_o, or zero without a b_o."""
    idle, b = moves.idle(problem)[..., None], problem.parameters.b_o
    want = np.broadcast_to(0.0 if b is None else b, y.shape)
    equal(np.where(idle, y, 0), np.where(idle, want, 0), within=0)


@clause(
    "L31",
    over=LayerProblems(hiding=IDLE),
    catches={"gives_idle_queries_of_a_layer_nan", "gives_idle_queries_of_a_layer_the_mean"},
    proof=exactly.idle_queries_return_the_output_bias,
    effort=2,
)
def fully_masked_query_returns_output_bias(layer: Layer, problem: LayerProblem) -> None:
    """A fully masked query returns the bias of the output projection.

        y_i = b_o    if every key is masked for i, in every head; b_o = 0 if the layer has none

    Its heads return zero, the empty sum of values. Other layers return NaN, or project the mean of
    the values; the convention `fully-masked` declares either.
    """
    y = layer.forward(problem)

    idle_rows_are_the_output_bias(y, problem)


@clause(
    "L32",
    over=LayerProblems(hiding=IDLE, asks=("heads", "mean")),
    needs={Capability.WEIGHTS},
    catches={
        "gives_idle_queries_of_a_layer_nan",
        "gives_idle_queries_of_a_layer_the_mean",
        "divides_by_zero_when_asked_for_weights",
    },
    proof=exactly.idle_queries_have_no_weights,
    effort=2,
)
def fully_masked_layer_query_has_zero_weights(layer: Layer, problem: LayerProblem) -> None:
    """If weights are returned, a fully masked query has zero weights and returns the output bias.

        a_ij = 0 for all j,    y_i = b_o    if every key is masked for i, in every head

    If the weights are returned, a layer often takes another code path. It may divide 0 by 0 even if
    the fused kernel does not, or return weights of zero but the mean of the values as output.
    """
    y, a = layer.forward(problem), layer.weights(problem)

    idle_rows_are_the_output_bias(y, problem)
    idle = moves.idle(problem)
    mine = idle[:, None, :, None] if problem.asks == "heads" else idle[..., None]
    equal(np.where(mine, a, 0), np.zeros(a.shape), within=0)


@clause(
    "L45",
    over=LayerProblems(hiding=IDLE, arrays=(1,), biases=("b_o",), training=False),
    catches={
        "gives_idle_queries_of_a_layer_nan",
        "gives_idle_queries_of_a_layer_the_mean",
        "divides_by_zero_in_evaluation",
    },
    proof=exactly.idle_queries_return_the_output_bias,
    effort=4,
)
def fully_masked_query_returns_output_bias_in_evaluation(
    layer: Layer, problem: LayerProblem
) -> None:
    """In evaluation mode, too, a fully masked query returns the bias of the output projection.

        y_i = b_o    if every key is masked for i, in every head

    Many layers have a fast path for evaluation, but only for self-attention with biases. So this
    clause tests that case. The convention `fully-masked` applies to it as to L31.
    """
    y = layer.forward(problem)

    assert problem.parameters.b_o is not None
    idle_rows_are_the_output_bias(y, problem)


@clause(
    "L47",
    over=LayerProblems(hiding=("idle by bias",), training=True),
    catches={"gives_idle_queries_of_a_layer_nan", "gives_idle_queries_of_a_layer_the_mean"},
    proof=exactly.idle_queries_return_the_output_bias,
    effort=2,
)
def row_of_minus_infinity_mask_returns_output_bias(layer: Layer, problem: LayerProblem) -> None:
    """A query whose row of an additive mask is -inf for every key returns the output bias.

        y_i = b_o    if b_ij = -inf for every j, in every head; b_o = 0 if the layer has none

    Many programs fill in a number where a boolean mask is True, but add a float mask. A fully
    masked query then gets a mean of values in the first case, and NaN in the second. The convention
    `fully-masked-bias` declares the second case alone.
    """
    y = layer.forward(problem)

    idle_rows_are_the_output_bias(y, problem)
