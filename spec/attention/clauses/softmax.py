"""Section S. The weights are a softmax, even if the function does not return them.

A softmax maps a row of scores to positive numbers that sum to one. It depends
only on the differences of the scores:

    a_j = exp(s_j) / sum_l exp(s_l)        a_j / a_l = exp(s_j - s_l)

The values make the weights visible in the output. With v = I the output is the
row of weights itself, and with v = 1 it is their sum. So each law of the softmax
is tested on any attention function, even if it does not return its weights.
"""

import numpy as np

from spec.attention import definition, moves, rounding
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import any_number_of_keys, blocks
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import at_least, at_most, equal
from spec.notation import Array

SHIFTS = (-64.0, -3.0, 16.0)  # far from zero, and exact in every format


def seen(attention: Implementation, problem: Problem) -> tuple[Array, Array]:
    """The weights, read from the output with v = I, and their error bound.   (B, H, N, M) each

    If values must have the head size of the keys, D columns of I are used at a time.
    """
    eye = np.broadcast_to(np.eye(problem.M), (problem.B, problem.G, problem.M, problem.M))
    width = problem.M if Capability.WIDTHS in attention.answers else problem.D
    shown, budget = [], []
    for first in range(0, problem.M, width):
        columns = eye[..., first : first + width]
        kept = columns.shape[-1]
        padding = [(0, 0)] * 3 + [(0, width - kept)]
        looked = moves.with_values(problem, np.pad(columns, padding))
        shown.append(attention.forward(looked)[..., :kept])
        budget.append(rounding.of_output(looked)[..., :kept])
    return np.concatenate(shown, axis=-1), np.concatenate(budget, axis=-1)


@clause(
    "S1",
    over=Problems(sinks=False),
    catches={
        "adds_epsilon_to_the_denominator",
        "adds_one_to_the_denominator",
        "forgets_the_denominator",
        "normalises_over_queries",
        "normalises_over_heads",
        "forbids_after_normalising",
        "drops_weights_below_a_ten_thousandth",
    },
    effort=2,
    proof=any_number_of_keys.rows_sum_to_one,
)
def rows_sum_to_one(attention: Implementation, problem: Problem) -> None:
    """The weights of a query sum to one, or to zero if the query is fully masked.

        sum_j a_ij = 1

    With v = 1 the output is this sum, so the weights need not be returned. A softmax along another
    axis, or with a constant in the denominator, gives other sums.
    """
    ones = problem.but(v=np.ones_like(problem.v))

    total = attention.forward(ones)

    equal(total, ~problem.idle[..., None] + np.zeros(total.shape), within=rounding.of_output(ones))


@clause(
    "S2",
    over=Problems(modest=True),
    catches={"gives_nan_for_an_empty_half", "drops_out_in_evaluation"},
)
def weights_are_between_zero_and_one(attention: Implementation, problem: Problem) -> None:
    """No weight is negative, and no weight is larger than one.

        0 <= a_ij <= 1

    The weights are read from the output with v = I. A masked key has the weight 0; each other
    weight is one of several positive terms, divided by their sum. The upper bound catches factors
    that are applied afterwards, such as dropout that was left on.
    """
    a, budget = seen(attention, problem)

    at_least(a, 0, within=0)
    at_most(a, 1, within=budget)


@clause(
    "S3",
    over=Problems(modest=True),
    catches={"normalises_queries_and_keys", "reads_the_first_batch_of_keys", "favours_recent_keys"},
)
def larger_scores_get_larger_weights(attention: Implementation, problem: Problem) -> None:
    """The weights have the same order as the scores, and equal scores give equal weights.

        s_ij <= s_il  implies  a_ij <= a_il    for keys j and l that query i sees

    The exponential is increasing, and the denominator is the same for the whole row. Any other
    influence on the weights, such as the position of the key, breaks the order somewhere.
    """
    s = definition.scores(problem)
    order = np.argsort(s, axis=-1, kind="stable")

    a, budget = (np.take_along_axis(x, order, -1) for x in seen(attention, problem))
    s = np.take_along_axis(s, order, -1)

    at_least(a[..., 1:], a[..., :-1], within=budget[..., 1:] + budget[..., :-1])
    tied = np.where(s[..., 1:] == s[..., :-1], budget[..., 1:] + budget[..., :-1], np.inf)
    equal(a[..., 1:], a[..., :-1], within=tied)


@clause(
    "S4",
    over=Problems(modest=True),
    catches={
        "exponentiates_in_base_two",
        "divides_by_width",
        "rounds_inputs_to_tf32",
        "rounds_scores_to_bfloat16",
        "attends_to_the_best_key_only",
    },
    proof=any_number_of_keys.ratios_of_weights_are_differences_of_scores,
)
def log_weight_ratio_equals_score_difference(attention: Implementation, problem: Problem) -> None:
    """The logarithm of the ratio of two nonzero weights is the difference of their scores.

        a_ij = a_il exp(s_ij - s_il)    with l the visible key of the largest score

    The denominator cancels. This settles the base of the exponential and the size of the scale,
    which S1, S2 and S3 leave open.
    """
    s = definition.scores(problem.wide())
    best = np.argmax(s, axis=-1)[..., None]
    ratio = np.exp(s - definition.top(s))

    a, budget = seen(attention, problem)

    within = budget + np.take_along_axis(budget, best, -1) * ratio
    equal(a, np.take_along_axis(a, best, -1) * ratio, within=within)


@clause(
    "S5",
    over=Problems(sinks=False, masks=PLAIN, shifts=True),
    needs={Capability.BIAS, Capability.FUTURE},
    catches={"clips_scores_at_fifty", "adds_one_to_the_denominator", "reads_the_bias_as_a_mask"},
    proof=any_number_of_keys.scores_have_no_origin,
)
def softmax_is_shift_invariant(attention: Implementation, problem: Problem) -> None:
    """Adding a constant to all scores of a query does not change its weights or its output.

        softmax(s_i + c_i) = softmax(s_i)

    Every exponential gains the factor exp(c_i), and so does the denominator. The constants are
    passed as an additive mask, which is constant along a row and differs between rows. There are no
    attention sinks here: a sink is one more score, which would have to be shifted too (Z13).
    """
    shift = np.resize(SHIFTS, (1, 1, problem.N, 1)) + np.zeros((1, 1, 1, problem.M))
    shifted = moves.with_bias(problem, shift)

    before, after = attention.forward(problem), attention.forward(shifted)

    equal(after, before, within=rounding.of_output(problem) + rounding.of_output(shifted))


@clause(
    "S8",
    over=Problems(slopes=False, sinks=False, modest=True, causal=False, least=(1, 1, 1, 2)),
    catches={
        "forgets_the_denominator",
        "favours_recent_keys",
        "drops_the_lightest_key",
        "adds_one_to_the_denominator",
        "exponentiates_by_a_cubic",
    },
    effort=2,
    proof=blocks.a_subset_is_renormalised,
)
def weights_over_a_subset_are_renormalised(attention: Implementation, problem: Problem) -> None:
    """If some keys are removed, the weights of the remaining keys are rescaled to sum to one, or
    stay zero if these keys are all masked.

        a_ij = a'_ij sum_(l kept) a_il    for a' the weights over the keys kept

    By S4, the ratios of the weights of the kept keys do not depend on the other keys. A constant in
    the denominator acts like one more key that is always kept, and violates this law.
    """
    kept = np.sort(moves.permutation(problem, problem.M)[: (problem.M + 1) // 2])
    fewer = moves.of_keys(problem, kept)

    whole, budget = seen(attention, problem)
    part, part_budget = seen(attention, fewer)

    share = whole[..., kept].sum(axis=-1, keepdims=True)
    share_budget = budget[..., kept].sum(axis=-1, keepdims=True)
    within = budget[..., kept] + part_budget * (share + share_budget) + part * share_budget
    equal(whole[..., kept], part * share, within=within)
