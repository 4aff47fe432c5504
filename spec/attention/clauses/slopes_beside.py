"""Section Y, continued. Places, whatever else is asked for, and what flows back along slopes.

Only distances count, so a text may be moved; and since a softmax forgets what a row has in common,
who adds m j in the place of -m (p_i - j) gets the same output where nothing lies ahead, with a
log-sum-exp that is m p_i too large: parts that are merged by it are merged wrongly.

Backward, a slope is a number that all biases of its head are multiples of:

    dm_h = -sum_ij ds_ij |p_i - j|
"""

import numpy as np

from spec.attention import moves, rounding
from spec.attention.clauses.slopes import UNBIASED, level, sloping
from spec.attention.domain import ADDITIVE, EVERY, PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import CAP, SLOPES, Capability, together
from spec.attention.proofs import any_slope
from spec.attention.record import Implementation
from spec.attention.rounding.reference import of_reader
from spec.clause import clause
from spec.comparison import equal

SMOOTH = ("lattice", "normal", "heavy")


@clause(
    "Y8",
    over=Problems(
        slopes=True, positions=False, firsts=False, masks=PLAIN, square=True, least=(1, 1, 33, 33)
    ),
    needs={Capability.MASK, Capability.FORMS},
    catches={"counts_keys_anew_in_each_tile", "counts_queries_anew_in_each_tile"},
    effort=2,
    proof=any_slope.a_slope_has_no_origin,
)
def a_text_may_be_moved(attention: Implementation, problem: Problem) -> None:
    """A text is what it is, however many tokens that nobody sees stand before it.

        o(x[t:])_i = o(x; keys before t hidden)_(i+t)    for N = M

    So a slope has no origin; a number that is counted anew in every tile has several.
    """
    t = problem.chance().randrange(1, problem.N)
    whole = sloping(problem).but(mask=np.tile(np.arange(problem.M) >= t, (problem.N, 1)))
    part = moves.of_keys(moves.of_queries(sloping(problem), slice(t, None)), slice(t, None))

    o, p = attention.forward(whole), attention.forward(part)

    within = rounding.of_output(whole)[:, :, t:] + rounding.of_output(part)
    equal(p, o[:, :, t:], within=within)


@clause(
    "Y9",
    over=Problems(slopes=True, masks=PLAIN, causal=False, least=(1, 1, 2, 2)),
    catches={"has_no_slopes_for_a_single_query", "counts_places_from_the_end"},
    effort=2,
)
def the_query_in_the_corner_may_be_asked_alone(attention: Implementation, problem: Problem) -> None:
    """One query with all keys has the place that it has among all queries, in the corner.

        o(q_c; k, v) = o(q; k, v)_c    c = 0, or N - 1 where the corner is that of the last

    Decoding asks the last one alone. Other rows are at another place when nobody is before them.
    """
    corner = problem.slopes_corner or problem.corner
    c = problem.N - 1 if corner == "bottom-right" else 0
    whole = moves.placed(sloping(problem))
    alone = moves.of_queries(whole, [c])

    o, p = attention.forward(whole), attention.forward(alone)

    equal(p, o[:, :, [c]], within=rounding.of_output(whole)[:, :, [c]] + rounding.of_output(alone))


@clause(
    "Y10",
    over=Problems(
        slopes=True,
        positions=False,
        sinks=False,
        masks=PLAIN,
        causal=True,
        square=True,
        modest=True,
        shifts=True,
        least=(1, 1, 2, 2),
    ),
    needs={Capability.BIAS, Capability.LSE},
    catches={"measures_lse_from_the_first_place", "measures_lse_without_the_slopes"},
    proof=any_slope.the_place_of_a_query_is_in_the_log_sum_exp_alone,
)
def the_place_of_a_query_is_in_the_log_sum_exp(attention: Implementation, problem: Problem) -> None:
    """Where nothing lies ahead, m j in the place of -m (p_i - j) shows in the log-sum-exp alone.

    o(slopes m) = o(mask m_h j),    lse(slopes m)_i = lse(mask m_h j)_i - m_h p_i    for N = M
    """
    usual = sloping(problem)
    assert usual.slopes is not None
    m, places = usual.slopes[:, None], np.arange(problem.M)
    from_zero = np.broadcast_to((m * places)[:, None], usual.allowed.shape)
    biased = usual.but(mask=from_zero.copy(), slopes=None)

    o, p = attention.forward(usual), attention.forward(biased)
    lse, more = attention.lse(usual), attention.lse(biased)

    equal(o, p, within=rounding.of_output(usual) + rounding.of_output(biased))
    within = rounding.of_lse(usual) + rounding.of_lse(biased)
    equal(lse, more - m * places, within=within + of_reader(np.abs(more) + m * places, usual))


@clause(
    "Y11",
    over=Problems(slopes=True, caps=True, masks=UNBIASED, least=(1, 1, 1, 2)),
    needs={together(CAP, SLOPES)},
    catches={"caps_the_slopes_too", "forgets_slopes_beside_a_cap"},
)
def slopes_are_not_capped(attention: Implementation, problem: Problem) -> None:
    """What a slope takes may lie beyond the cap of the scores.

        o(slopes m; cap c) = o(slopes m)    where every product is 0, however small c is

    Where it is declared that what is added is capped as well, it is capped as the definition says.
    """
    low = level(problem).but(softcap=0.5)

    o, within = attention.forward(low), rounding.of_output(low)

    if low.caps_bias:
        equal(o, rounding.reference(low).o, within=within)
    else:
        free = low.but(softcap=None)
        equal(o, attention.forward(free), within=within + rounding.of_output(free))


@clause(
    "Y12",
    over=Problems(slopes=True, masks=EVERY),
    catches={
        "forgets_slopes_beside_a_mask",
        "forgets_slopes_beside_causality",
        "forgets_slopes_beside_a_window",
        "forgets_slopes_beside_a_cap",
        "forgets_slopes_beside_sinks",
        "scales_slopes_too",
        "ignores_the_slopes",
    },
    effort=4,
)
def slopes_are_added_beside_everything_else(attention: Implementation, problem: Problem) -> None:
    """Whatever else is asked for, slopes are added to the scores of the keys that are left.

        a_ij = exp(s_ij) / sum_j exp(s_ij),    s_ij = cap(t_ij) + b_ij - m_h |p_i - j|

    What hides a key hides it whatever its distance is, and a sink is nowhere, and has no slope.
    """
    usual = sloping(problem)

    o = attention.forward(usual)

    equal(o, rounding.reference(usual).o, within=rounding.of_output(usual))


@clause(
    "Y13",
    over=Problems(slopes=True, families=SMOOTH),
    needs={Capability.GRADIENTS, Capability.SLOPE_GRADIENT},
    catches={
        "differentiates_without_the_slopes",
        "returns_zero_gradients_of_slopes",
        "takes_slope_gradients_from_the_first_sequence",
        "adds_slope_gradients_of_all_sequences",
        "takes_the_gradient_of_a_slope_to_be_positive",
        "forgets_the_distance_in_slope_gradients",
        "averages_slope_gradients_over_queries",
        "signs_the_distance_in_slope_gradients",
        "scales_slope_gradients",
    },
    effort=2,
    proof=any_slope.the_gradient_of_a_slope,
)
def the_gradient_of_a_slope_weighs_distances(attention: Implementation, problem: Problem) -> None:
    """A slope receives what its biases do, each as often as it has the slope in it.

    dm_h = -sum_ij ds_ij |p_i - j|    over every sequence that has the slope
    """
    right, budget = rounding.reference(problem).gradients.slopes, rounding.of_gradients(problem)
    assert right is not None
    assert budget.slopes is not None

    found = attention.slope_gradient(problem)

    equal(found, right, within=budget.slopes)


@clause(
    "Y14",
    over=Problems(slopes=True, families=SMOOTH),
    needs={Capability.GRADIENTS},
    catches={"differentiates_without_the_slopes"},
)
def gradients_know_the_slopes(attention: Implementation, problem: Problem) -> None:
    """Gradients are those of the weights that the slopes have made.

    ds_ij = a_ij (da_ij - sum_j a_ij da_ij),    dv_j = sum_i a_ij dout_i
    """
    usual = sloping(problem)
    exact, budget = rounding.reference(usual).gradients, rounding.of_gradients(usual)

    found = attention.backward(usual)

    equal(found.q, exact.q, within=budget.q)
    equal(found.k, exact.k, within=budget.k)
    equal(found.v, exact.v, within=budget.v)


@clause(
    "Y15",
    over=Problems(slopes=True, masks=ADDITIVE, families=SMOOTH),
    needs={Capability.BIAS_GRADIENT, Capability.SLOPE_GRADIENT},
    catches={"forgets_the_distance_in_slope_gradients", "returns_zero_gradients_of_slopes"},
)
def slopes_receive_what_biases_do(attention: Implementation, problem: Problem) -> None:
    """What the biases of a head receive, its slope does, times the distances.

        dm_h = -sum_ij db_ij |p_i - j|

    A bias and a slope are added at the same place, so this needs no definition.
    """
    full = sloping(moves.written_out(problem))
    budget, d = rounding.of_gradients(full), np.abs(full.distance)
    assert budget.bias is not None
    assert budget.slopes is not None

    db, dm = attention.bias_gradient(full), attention.slope_gradient(full)

    sums = -(db * full.distance).sum(axis=(0, 2, 3))
    read = of_reader((np.abs(db) * d).sum(axis=(0, 2, 3)), full) * (full.N * full.M + full.B)
    off = (np.where(d == 0, 0.0, budget.bias) * d).sum(axis=(0, 2, 3))
    equal(dm, sums, within=budget.slopes + off + read)
