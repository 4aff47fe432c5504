"""Section L, continued. A query that may attend to nothing returns what is left: a bias.

Its heads return zero, the empty sum of values, so of [o_1 ... o_H] W_o^T + b_o the bias
remains. A softmax over no key is 0 / 0, and every path of a program meets it anew: the
path of a kernel, the one that keeps weights to show them, the fast one of evaluation.
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
    """Raise Violation unless every idle row of an output is b_o, or zero where there is none."""
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
def an_idle_query_returns_the_output_bias(layer: Layer, problem: LayerProblem) -> None:
    """A query that may attend to nothing returns the bias of the output projection.

        y_i = b_o    if every key is forbidden to i, in every head

    Its heads return zero, the empty sum of values.
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
def an_idle_query_is_idle_when_asked_for_weights(layer: Layer, problem: LayerProblem) -> None:
    """Asked for weights, an idle query has none, and its output is what it is when not asked.

        a_ij = 0 for all j,    y_i = b_o    if every key is forbidden to i, in every head

    The path that keeps its weights divides 0 by 0 where a kernel has thought of it; or it clears
    what it shows of such a row, where the kernel returns a mean.
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
def an_idle_query_is_idle_in_evaluation(layer: Layer, problem: LayerProblem) -> None:
    """In evaluation too, an idle query returns the bias of the output projection.

        y_i = b_o    if every key is forbidden to i, in every head

    A layer that reads one text, trained and with biases, is what fast paths are written for.
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
def minus_infinity_leaves_a_query_idle(layer: Layer, problem: LayerProblem) -> None:
    """A query to which an additive mask says -inf of every key returns the output bias as well.

        y_i = b_o    if b_ij = -inf for every j, in every head

    Many programs fill where a truth value forbids, and add what is to be added: then the one is
    a mean, and the other NaN.
    """
    y = layer.forward(problem)

    idle_rows_are_the_output_bias(y, problem)
