"""Section S, continued. Large scores do not overflow.

exp(89) overflows float32, exp(-104) underflows to zero in it, and scores of a
thousand are not unusual. A softmax need not suffer from this, because a constant
added to all scores of a row cancels (S5). With m the largest score of the row,

    a_j = exp(s_j - m) / sum_l exp(s_l - m),        1 <= sum_l exp(s_l - m) <= M

no exponential overflows, and terms that underflow are negligible in a sum that is
at least one. The maximum m has to be taken from the row itself. With a number far
above the scores of the row all terms underflow; with one far below they overflow.

In the limit, softmax selects one key. If the largest score exceeds all others by d,
the other keys together have a weight of at most (M - 1) exp(-d). So for large d the
weights are one-hot, and the output is the value of that key.
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
def dominant_key_determines_the_output(attention: Implementation, problem: Problem) -> None:
    """If one score is far larger than the others, the output is close to the value of that key.

        |o_i - v_l| <= sum_(j != l) a_ij |v_j - v_l|    with l the visible key of the largest score

    By S1, the distance of the output to v_l is at most the weighted mean distance of all values to
    v_l. The term of v_l itself is zero. In the limit, weights are one-hot and the bound is zero.
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
def large_scores_do_not_overflow(attention: Implementation, problem: Problem) -> None:
    """Scores of a thousand or a hundred thousand, of either sign, give weights that sum to one, or
    to zero if the query is fully masked.

        sum_j a_ij = 1    and    o_i = sum_j a_ij v_j

    exp(89) overflows float32 and exp(-104) underflows to zero in it. So the largest score of each
    row has to be subtracted first: not a constant, and not the largest score of all rows.
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
def scores_near_the_float_maximum_stay_correct(attention: Implementation, problem: Problem) -> None:
    """Scores up to a tenth of the largest finite number give the correct output, masked or not.

        o_i = sum_j a_ij v_j    for max(1, |scale|) |<q_i, k_j>| up to a tenth of the largest number

    At this size, no product, sum or difference of two terms overflows. A finite number that stands
    for -inf, such as -1e30, is not below every score. In float64, the check goes up to 2^1012.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "S24",
    over=Problems(families=("low",), tiled="ends", causal=True, masks=PLAIN, sinks=False),
    catches={"keeps_zero_as_the_maximum_of_a_hidden_tile", "starts_the_maximum_at_zero"},
    effort=2,
)
def low_scores_beside_hidden_tiles_stay_correct(
    attention: Implementation, problem: Problem
) -> None:
    """If all scores of a row are far below zero, a tile of masked keys changes nothing.

        o_i = sum_j a_ij v_j    where all s_ij are low, and causality masks the last keys

    A kernel that reads the last tile first, and finds it masked, has no maximum yet, and
    -inf - -inf is NaN. If it takes zero as the maximum, it must not keep the zero: all exponentials
    of the next tile would underflow.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))
