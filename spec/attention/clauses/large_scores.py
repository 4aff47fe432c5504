"""Section S, continued. Large scores are scores like any other.

exp(89) overflows float32 and exp(-104) vanishes in it, and scores of a thousand
are nothing unusual. A softmax need not care, because its scores have no origin
(S5). With m the largest score of the row,

    a_j = exp(s_j - m) / sum_l exp(s_l - m),        1 <= sum_l exp(s_l - m) <= M

no exponential overflows, and what vanishes stands beside a one. The row itself
has to say what m is: with a number far above its scores all terms vanish, and
with one far below they overflow.

The limit is a choice. A key that is ahead of the others by d has all the weight
but (M - 1) exp(-d) at most; so for large d the weights are one-hot, and the
output is a value.
"""

import numpy as np

from spec.attention import definition, rounding
from spec.attention.domain import BOOLEAN, PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import at_most, equal
from spec.notation import Array

LARGE = ("sharp", "low", "offset", "ascending")


@clause(
    "S9",
    over=Problems(sinks=False, families=("ahead", "sharp"), masks=PLAIN, modest=True),
    catches={
        "scales_twice",
        "ignores_the_scale",
        "exponentiates_in_base_two",
        "clips_scores_at_fifty",
    },
    effort=2,
)
def the_winner_takes_it_all(attention: Implementation, problem: Problem) -> None:
    """A key far ahead of the others leaves nothing to them.

        |o_i - v_l| <= sum_(j != l) a_ij |v_j - v_l|    with l the key of the largest score

    By S1 the output is no farther from v_l than the values are on average, and v_l itself is at
    no distance. In the limit the weights are one-hot, and nothing is left over.
    """
    a = definition.weights(problem)
    best = np.argmax(a, axis=-1)[..., None]
    v = definition.shared(problem.v, problem.H)
    winner = np.where(problem.idle[..., None], 0, np.take_along_axis(v, best, axis=-2))

    o = attention.forward(problem)

    at_most(np.abs(o - winner), _left_over(a, v, winner), within=rounding.of_output(problem))


def _left_over(a: Array, v: Array, winner: Array) -> Array:
    """sum_j a_ij |v_jc - winner_ic|.   (B, H, N, E)"""
    rows = [
        (a[..., i : i + 1, :] @ np.abs(v - winner[..., i : i + 1, :]))
        for i in range(winner.shape[-2])
    ]
    return np.concatenate(rows, axis=-2)


@clause(
    "S10",
    over=Problems(sinks=False, families=LARGE),
    catches={
        "skips_the_maximum",
        "starts_the_maximum_at_zero",
        "starts_the_maximum_at_minus_fifty_thousand",
        "subtracts_one_maximum_for_all",
        "clips_scores_at_fifty",
        "exponentiates_in_float16",
    },
    effort=3,
)
def large_scores_stay_finite(attention: Implementation, problem: Problem) -> None:
    """Scores of a thousand or a hundred thousand, of either sign, give weights that sum to one.

        sum_j a_ij = 1    and    o_i = sum_j a_ij v_j

    exp(89) overflows float32 and exp(-104) vanishes in it. So the largest score of each row is
    subtracted first: not a constant, and not the largest score of all rows.
    """
    ones = problem.but(v=np.ones_like(problem.v))

    total, o = attention.forward(ones), attention.forward(problem)

    equal(total, ~problem.idle[..., None] + np.zeros(total.shape), within=rounding.of_output(ones))
    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "S15",
    over=Problems(families=("vast",), masks=(*PLAIN, *BOOLEAN), modest=True),
    catches={"starts_the_maximum_at_minus_1e30", "fills_with_minus_1e30"},
)
def scores_may_be_as_large_as_numbers_are(attention: Implementation, problem: Problem) -> None:
    """Scores up to a tenth of the largest number are scores: the largest wins, the hidden lose.

        o_i = sum_j a_ij v_j    for |<q_i, k_j>| up to a tenth of what the format holds

    No product, sum or difference of two overflows there. What stands for -inf, and is finite, is
    not below every score.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))
