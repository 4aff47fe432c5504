"""Theorems about the gradients of the definition, for all numbers at small sizes.

First the closed form is held to the derivatives of <dout, y>, by every input and every
parameter. The consequences of the freedom of the heads are then proved of the closed form:
the gauges of `outputs`, moved along t S from the identity, give at t = 0

    <dW_q, S W_q> + <db_q, S b_q> = <dW_k, S^T W_k> + <db_k, S^T b_k>    for every S

and that is the identity of D x D matrices that is proved here.
"""

import numpy as np

from spec.layer import definition, moves
from spec.layer.notation import LayerProblem
from spec.layer.proofs.formulas import loss, of_itself, symbolic, unbiased
from spec.notation import Array
from spec.proving.formulas import residual, untrue_gradients
from spec.proving.theorem import flat, proved_at

KEYS = "2 keys and values of width 1, no mask"
OF_ONE_HEAD = "1 head of width 2 or 2 of width 1, 1 query, all biases, " + KEYS
WIDTHS = "heads, keys and values of width 1, 2 keys, no mask"


def one_head_or_two() -> tuple[LayerProblem, LayerProblem]:
    """The problems of OF_ONE_HEAD."""
    return symbolic(D=2), symbolic(H=2)


@proved_at("2 heads on 1 query without biases, or 1 head on 2 with biases; " + WIDTHS, keys=0)
def the_gradients_of_the_inputs_are_the_derivatives(keys: int = 1) -> Array:
    """dquery, dkey and dvalue are derivatives of <dout, y>. The control has no way to the keys."""
    found = []
    for problem in (unbiased(symbolic(H=2)), symbolic(N=2)):
        closed, of = definition.gradients(problem).inputs, problem
        got = [closed["query"], keys * closed["key"], closed["value"]]
        found.append(untrue_gradients(got, loss(problem), [of.query, of.key, of.value]))
    return flat(found)


@proved_at("2 heads without biases, or 1 with biases, batch of 2; 1 query, " + WIDTHS, elements=1)
def the_gradients_of_the_parameters_are_the_derivatives(elements: int | None = None) -> Array:
    """dW and db of all four projections are derivatives of <dout, y>.

    The control takes them from the first batch element.
    """
    found = []
    for problem in (unbiased(symbolic(H=2)), symbolic(B=2)):
        part = problem if elements is None else moves.of_batch(problem, 0)
        got = definition.gradients(part).parameters.named()
        found.append(
            untrue_gradients(got.values(), loss(problem), problem.parameters.named().values())
        )
    return flat(found)


@proved_at("a batch of 2, 1 head of width 2, 2 queries, all biases, " + KEYS, elements=1)
def the_output_bias_learns_the_sum_of_the_cotangents(elements: int = 2) -> Array:
    """d<dout, y> / db_o = sum_bi dout_bi. The control adds over the first batch element."""
    problem = symbolic(B=2, D=2, N=2)
    b = problem.parameters.named()["b_o"]
    return untrue_gradients([problem.dout[:elements].sum(axis=(0, 1))], loss(problem), [b])


@proved_at(OF_ONE_HEAD, biased=False)
def query_and_key_weights_learn_alike(biased: bool = True) -> Array:
    """W_q dW_q^T + b_q db_q^T = dW_k W_k^T + db_k b_k^T. The control leaves the biases out."""
    found, width = [], None if biased else -1
    for problem in one_head_or_two():
        p, d = problem.parameters, definition.gradients(problem).parameters
        W, V, dW, dV = (x.with_bias(y)[:, :width] for x in (p, d) for y in "qk")
        for h in range(problem.H):
            own = moves.rows(problem, h)
            found.append(residual(W[own] @ dW[own].T, dV[own] @ V[own].T))
    return flat(found)


@proved_at(OF_ONE_HEAD, biased=False)
def value_and_output_weights_learn_alike(biased: bool = True) -> Array:
    """W_v dW_v^T + b_v db_v^T = dW_o^T W_o. The control leaves the bias out."""
    found, width = [], None if biased else -1
    for problem in one_head_or_two():
        p, d = problem.parameters, definition.gradients(problem).parameters
        W, dW = (x.with_bias("v")[:, :width] for x in (p, d))
        for h in range(problem.H):
            own = moves.rows(problem, h)
            found.append(residual(W[own] @ dW[own].T, d.W_o[:, own].T @ p.W_o[:, own]))
    return flat(found)


@proved_at("2 heads of width 1, 2 queries, no biases, " + KEYS, biased=True)
def the_output_weights_account_for_the_loss(biased: bool = False) -> Array:
    """<W_o, dW_o> = <dout, y> without biases. The control has biases."""
    problem = symbolic(H=2, N=2)
    problem = problem if biased else unbiased(problem)
    dW = definition.gradients(problem).parameters.W_o
    return residual((problem.parameters.W_o * dW).sum(), loss(problem))


@proved_at("2 tokens of width 1 in self-attention, 1 head, all biases, no mask", ways=2)
def a_token_learns_along_three_ways(ways: int = 3) -> Array:
    """d<dout, y(x, x, x)> / dx = dquery + dkey + dvalue. The control forgets the values."""
    problem = of_itself()
    three = [*definition.gradients(problem.but(arrays=3)).inputs.values()]
    return untrue_gradients([sum(three[:ways], np.zeros(1))], loss(problem), [problem.query])
