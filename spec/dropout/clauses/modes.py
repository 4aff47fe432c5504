"""Section D, continued. Evaluation mode, rate zero and rate one.

Evaluation at any rate, and training at a rate of zero, are plain attention: no randomness and
no factor. In training, a rate of one drops every weight, so the output is zero, and not the NaN
of 0 / 0.

A function without a mode, such as torch's, also drops weights in evaluation if it receives
a nonzero rate (pytorch/pytorch#124464). Its caller must pass 0 in evaluation, and so does
this specification.
"""

import numpy as np

from spec.attention import rounding
from spec.attention.options import Capability
from spec.clause import clause
from spec.comparison import equal, equal_in, same_bits
from spec.dropout.domain import Problems
from spec.dropout.notation import Dropout, Problem
from spec.dropout.reading import used_weights


@clause("D7", over=Problems(), catches={"drops_in_evaluation", "scales_in_evaluation"})
def evaluation_mode_is_plain_attention(network: Dropout, problem: Problem) -> None:
    """In evaluation mode the output is plain attention, at any dropout rate.

        o(evaluation, p)_i = sum_j a_ij v_j

    Training divides the kept weights by 1 - p, so evaluation needs no correction.
    """
    reference = rounding.reference(problem.attention).o
    for p in (problem.p, 1.0):
        o = network.forward(problem.but(training=False, p=p))

        equal(o, reference, within=rounding.of_output(problem.attention))


@clause("D8", over=Problems(), catches={"drops_in_evaluation", "scales_in_evaluation"})
def evaluation_ignores_dropout_rate_and_seed(network: Dropout, problem: Problem) -> None:
    """In evaluation mode, neither the dropout rate nor the seed changes the output.

        o(evaluation, p, seed) = o(evaluation, 0, another seed)

    The mode alone decides that nothing is dropped.
    """
    evaluated = problem.but(training=False)

    o, other = (
        network.forward(evaluated),
        network.forward(evaluated.but(p=0.0, seed=problem.seed + 1)),
    )

    equal(other, o, within=2 * rounding.of_output(problem.attention))


@clause("D9", over=Problems(), catches={"takes_a_rate_of_zero_for_none", "drops_in_evaluation"})
def dropout_rate_zero_equals_evaluation(network: Dropout, problem: Problem) -> None:
    """Training at a dropout rate of zero returns the output of evaluation.

        o(training, 0) = o(evaluation, p)

    Every weight is kept and divided by one.
    """
    o, evaluated = (network.forward(problem.but(**x)) for x in ({"p": 0.0}, {"training": False}))

    equal(o, evaluated, within=2 * rounding.of_output(problem.attention))


@clause("D10", over=Problems(), catches={"divides_by_zero_at_rate_one", "keeps_all_at_rate_one"})
def dropout_rate_one_returns_zero(network: Dropout, problem: Problem) -> None:
    """In training at a dropout rate of one, the output is zero.

        o(training, 1) = 0

    The factor 1 / (1 - p) is infinite at p = 1, but no weight is left to multiply. The result is
    zero, as in torch, and not NaN.
    """
    o = network.forward(problem.but(p=1.0))

    same_bits(o, np.zeros_like(o))


@clause(
    "D11",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={"divides_by_zero_at_rate_one", "keeps_all_at_rate_one"},
)
def dropout_rate_one_gives_zero_gradients(network: Dropout, problem: Problem) -> None:
    """In training at a dropout rate of one, all gradients are zero.

        dq = 0, dk = 0, dv = 0    for the dropout rate p = 1

    Inputs that do not influence the output receive no gradient.
    """
    d = network.backward(problem.but(p=1.0))

    for found in (d.q, d.k, d.v):
        same_bits(found, np.zeros_like(found))


@clause(
    "D12",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={"drops_in_evaluation", "drops_in_evaluation_backward"},
)
def evaluation_mode_has_plain_attention_gradients(network: Dropout, problem: Problem) -> None:
    """In evaluation mode the gradients are those of plain attention, at any dropout rate.

        dq, dk, dv (evaluation, p) = dq, dk, dv of attention

    Gradients are also computed in evaluation mode, for attributions and adversarial examples.
    """
    attention = problem.attention

    exact, budget = rounding.reference(attention).gradients, rounding.of_gradients(attention)
    for p in (problem.p, 1.0):
        d = network.backward(problem.but(training=False, p=p))

        equal_in("qkv", d, exact, within=budget)


@clause("D13", over=Problems(), catches={"attends_to_the_forbidden_to_make_up"}, effort=2)
def masked_keys_keep_zero_weight_under_dropout(network: Dropout, problem: Problem) -> None:
    """A masked key has a weight of zero, whichever other weights are dropped.

        w_ij = 0    where query i may not attend to key j

    A row whose weights are all dropped is zero too. It must not fall back to masked keys.
    """
    mask = np.arange(problem.M) <= problem.seed % problem.M
    hidden = problem.but(mask=np.broadcast_to(mask, (problem.N, problem.M)), causal=False)
    hidden = hidden if Capability.MASK in network.answers else problem

    w = used_weights(network, hidden)

    same_bits(np.where(hidden.allowed, 0, w), np.zeros_like(w))
