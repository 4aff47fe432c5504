"""Section S, continued. The log-sum-exp is the logarithm of the softmax denominator.

    lse_i = log sum_j exp(s_ij)        a_ij = exp(s_ij - lse_i)

It is a smooth maximum: it shifts with the scores, and it exceeds the largest score by
at most the logarithm of their number. Blockwise attention stores it in place of a row
of weights (section X).
"""

import numpy as np

from spec.attention import definition, moves, rounding
from spec.attention.clauses.softmax import SHIFTS
from spec.attention.clauses.through_lse import NEEDS, with_other_idle_cotangents
from spec.attention.domain import IDLE, PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import any_number_of_keys
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import at_least, at_most, equal


@clause(
    "S6",
    over=Problems(sinks=False, masks=PLAIN, shifts=True),
    needs={Capability.BIAS, Capability.LSE},
    catches={
        "forgets_the_maximum_in_lse",
        "measures_lse_without_the_bias",
        "measures_lse_in_base_two",
    },
    proof=any_number_of_keys.log_sum_exp_moves_with_the_scores,
)
def log_sum_exp_shifts_with_the_scores(attention: Implementation, problem: Problem) -> None:
    """A constant added to all scores of a query is added to its log-sum-exp.

        lse(s_i + c_i) = lse(s_i) + c_i

    The factor exp(c_i) cancels in the weights (S5), but not in their denominator. Code that
    subtracts the maximum and does not add it back loses the constant.
    """
    constants = np.resize(SHIFTS, (1, 1, problem.N))
    shifted = moves.with_bias(problem, constants[..., None] + np.zeros((1, 1, 1, problem.M)))

    before, after = attention.lse(problem), attention.lse(shifted)

    within = rounding.of_lse(problem) + rounding.of_lse(shifted)
    equal(after, before + constants, within=within)


@clause(
    "S7",
    over=Problems(sinks=False),
    needs={Capability.LSE},
    catches={
        "measures_the_log_of_the_mean",
        "measures_lse_in_base_two",
        "measures_lse_before_masking",
    },
)
def log_sum_exp_is_within_log_n_of_the_maximum(attention: Implementation, problem: Problem) -> None:
    """The log-sum-exp is at least the largest score, and at most log n larger, for n unmasked keys.

        max_j s_ij <= lse_i <= max_j s_ij + log n_i,    n_i keys unmasked

    The sum has the term exp(max_j s_ij), and no term is larger. The logarithm of the mean, which
    is a known bug, is never above the largest score.
    """
    count = np.maximum(problem.allowed.sum(axis=-1), 1)
    largest = definition.scores(problem).max(axis=-1, initial=-np.inf)

    lse = attention.lse(problem)

    at_least(lse, largest, within=rounding.of_lse(problem))
    at_most(lse, largest + np.log(count), within=rounding.of_lse(problem))


@clause(
    "S23",
    over=Problems(cotangents=True, masks=IDLE, sinks=False),
    needs=NEEDS,
    catches={"has_no_number_for_what_nothing_teaches"},
)
def lse_cotangent_of_fully_masked_query_leaves_no_trace(
    attention: Implementation, problem: Problem
) -> None:
    """The cotangent of the log-sum-exp of a fully masked query leaves no trace in any gradient.

        dq_i = 0    for every fully masked query i
        d(dlse) = d(dlse')    where dlse and dlse', both finite, differ only at such queries

    Here d stands for dq, dk and dv. For such a query, lse_i is -inf whatever q and k are. S21
    requires equal bits, which need the same order of summation in both calls.
    """
    other, within = with_other_idle_cotangents(problem), rounding.of_gradients(problem)

    found, again = attention.lse_backward(problem), attention.lse_backward(other)

    equal(np.where(problem.idle[..., None], found.q, 0), np.zeros(problem.q.shape), within=0)
    equal(again.q, found.q, within=2 * within.q)
    equal(again.k, found.k, within=2 * within.k)
    equal(again.v, found.v, within=2 * within.v)
