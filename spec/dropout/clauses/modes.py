"""Section D, continued. Evaluation is off, and off is off.

A rate of zero, or evaluation at any rate, is attention: no chance, no factor, the same
bits each time. A rate of one leaves nothing, which is zero and not 0 / 0. And a mode is a
mode: after evaluation, training drops again.

A function without a mode, as torch's own, drops in evaluation too if it is told a rate
then (pytorch/pytorch#124464). Whoever calls it passes 0, and so does this specification.
"""

import numpy as np

from spec.attention import rounding
from spec.attention.options import Capability
from spec.clause import clause
from spec.comparison import equal, same_bits
from spec.dropout.domain import Problems
from spec.dropout.notation import Dropout, Problem
from spec.dropout.reading import used_weights


@clause("D7", over=Problems(), catches={"drops_in_evaluation", "scales_in_evaluation"})
def evaluation_is_attention(network: Dropout, problem: Problem) -> None:
    """In evaluation the output is that of attention, whatever the rate.

        o(evaluation, p)_i = sum_j a_ij v_j

    Weights were divided by 1 - p in training so that nothing is left to do here.
    """
    o = network.forward(problem.but(training=False))

    reference = rounding.reference(problem.attention).o
    equal(o, reference, within=rounding.of_output(problem.attention))


@clause("D8", over=Problems(), catches={"drops_in_evaluation", "scales_in_evaluation"})
def evaluation_does_not_know_the_rate(network: Dropout, problem: Problem) -> None:
    """In evaluation neither the rate nor the seed changes a bit.

        o(evaluation, p, seed) = o(evaluation, 0, another seed)

    This holds to the bit where D7 has to allow for rounding.
    """
    evaluated = problem.but(training=False)

    o, other = (
        network.forward(evaluated),
        network.forward(evaluated.but(p=0.0, seed=problem.seed + 1)),
    )

    same_bits(other, o)


@clause("D9", over=Problems(), catches={"takes_a_rate_of_zero_for_none", "drops_in_evaluation"})
def a_rate_of_zero_is_no_dropout(network: Dropout, problem: Problem) -> None:
    """Training at a rate of zero is evaluation, to the bit.

        o(training, 0) = o(evaluation, p)

    Every weight is kept and divided by one.
    """
    o = network.forward(problem.but(p=0.0))

    same_bits(o, network.forward(problem.but(training=False)))


@clause("D10", over=Problems(), catches={"divides_by_zero_at_rate_one", "keeps_all_at_rate_one"})
def a_rate_of_one_leaves_nothing(network: Dropout, problem: Problem) -> None:
    """At a rate of one the output is zero.

        o(training, 1) = 0

    The factor 1 / (1 - p) is infinite there, and there is nothing that it multiplies: zero, as
    torch has it, and not NaN.
    """
    o = network.forward(problem.but(p=1.0))

    same_bits(o, np.zeros_like(o))


@clause(
    "D11",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={"divides_by_zero_at_rate_one", "keeps_all_at_rate_one"},
)
def a_rate_of_one_passes_nothing_back(network: Dropout, problem: Problem) -> None:
    """At a rate of one all gradients are zero.

        dq = 0, dk = 0, dv = 0    for p = 1

    Inputs that reach nothing learn nothing.
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
def evaluation_has_the_gradients_of_attention(network: Dropout, problem: Problem) -> None:
    """In evaluation the gradients are those of attention, whatever the rate.

        dq, dk, dv (evaluation, p) = dq, dk, dv of attention

    Gradients are taken in evaluation too, for attributions and adversarial examples.
    """
    attention = problem.attention

    d = network.backward(problem.but(training=False))

    exact, budget = rounding.reference(attention).gradients, rounding.of_gradients(attention)
    equal(d.q, exact.q, within=budget.q)
    equal(d.k, exact.k, within=budget.k)
    equal(d.v, exact.v, within=budget.v)


@clause("D13", over=Problems(), catches={"attends_to_the_forbidden_to_make_up"}, effort=2)
def the_forbidden_stays_forbidden(network: Dropout, problem: Problem) -> None:
    """A key that is hidden from a query has a weight of zero, whatever is dropped.

        w_ij = 0    where key j is forbidden to query i

    A row whose every weight was dropped is zero as well, and no reason to look elsewhere.
    """
    mask = np.arange(problem.M) <= problem.seed % problem.M
    hidden = problem.but(mask=np.broadcast_to(mask, (problem.N, problem.M)), causal=False)
    hidden = hidden if Capability.MASK in network.answers else problem

    w = used_weights(network, hidden)

    same_bits(np.where(hidden.allowed, 0, w), np.zeros_like(w))
