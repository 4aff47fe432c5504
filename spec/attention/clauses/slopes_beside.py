"""Section Y, continued. ALiBi slopes: relative positions, other options, and gradients.

Only distances count, so a constant may be added to all positions. A softmax ignores a constant
that is common to a row. If no key lies ahead, adding m j instead of -m (p_i - j) therefore gives
the same output, but the log-sum-exp is too large by m p_i, and merges by it are wrong.

In the backward pass, dm_h = -sum_ij ds_ij |p_i - j|, as all biases of a head have its slope.
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
from spec.comparison import equal, equal_in

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
def slopes_depend_only_on_relative_positions(attention: Implementation, problem: Problem) -> None:
    """Slopes depend only on relative positions, so a masked prefix can be removed.

        o(x[t:])_i = o(x; keys before t masked)_(i+t)    for N = M, x: queries, keys, values

    A position counter that restarts in every tile breaks this. The clause excludes leading keys,
    because x[t:] would have other leading keys than x.
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
def single_query_keeps_its_slope_distances(attention: Implementation, problem: Problem) -> None:
    """With ALiBi slopes, the first query (top-left alignment) or the last one (bottom-right) has
    the same output alone as among all queries.

        o(q_c; k, v) = o(q; k, v)_c    c = 0, or N - 1 with bottom-right alignment

    Decoding passes only the last query. A query from any other row would change its position in a
    call without the other queries. Explicit positions stay with the query and the keys.
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
def key_position_bias_changes_only_log_sum_exp(attention: Implementation, problem: Problem) -> None:
    """Under causality, a bias m j for key j instead of -m (i - j) changes only the log-sum-exp.

    o(slopes m) = o(mask m_h j),    lse(slopes m)_i = lse(mask m_h j)_i - m_h i    for N = M
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
def softcap_does_not_apply_to_slopes(attention: Implementation, problem: Problem) -> None:
    """A soft-cap bounds the scores but not the slope term, which may be larger than the soft-cap.

        o(slopes m; cap c) = o(slopes m)    where every product <q_i, k_j> is 0, however small c is

    Under the convention `softcap=after-bias`, the soft-cap also bounds the slope term. Then the
    output is compared with the definition.
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
def slopes_combine_with_every_other_option(attention: Implementation, problem: Problem) -> None:
    """With any other options, the slope term is still added to the score of every visible key.

        a_ij = exp(s_ij) / (exp(t_h) + sum_j exp(s_ij)),  s_ij = cap(t_ij) + b_ij - m_h |p_i - r_j|

    Here t_ij is a score before the soft-cap, t_h the attention sink of head h, m_h its slope, p_i
    and r_j are positions, and j runs over the visible keys. A masked key stays masked at any
    distance. A sink has no position, so no slope applies to it.
    """
    usual = sloping(problem)

    o = attention.forward(usual)

    equal(o, rounding.reference(usual).o, within=rounding.of_output(usual))


@clause(
    "Y13",
    over=Problems(slopes=True, families=SMOOTH, exact="gradients in 16 bits"),
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
def slope_gradient_matches_the_definition(attention: Implementation, problem: Problem) -> None:
    """The gradient of a slope is the sum of the score gradients, each times minus the distance.

        dm_h = -sum_ij ds_ij |p_i - r_j|    also over the batch elements that share the slope

    Here ds_ij is the gradient of the biased score, and p_i and r_j are the positions of q_i, k_j.
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
def gradients_account_for_slopes(attention: Implementation, problem: Problem) -> None:
    """The gradients of q, k and v use the weights that include the slopes.

        ds_ij = a_ij (da_ij - sum_j a_ij da_ij),    dv_j = sum_i a_ij dout_i

    Here da_ij = <dout_i, v_j>. If query heads share a key head, dk and dv are summed over them.
    """
    usual = sloping(problem)
    exact, budget = rounding.reference(usual).gradients, rounding.of_gradients(usual)

    found = attention.backward(usual)

    equal_in("qkv", found, exact, within=budget)


@clause(
    "Y15",
    over=Problems(slopes=True, masks=ADDITIVE, families=SMOOTH),
    needs={Capability.BIAS_GRADIENT, Capability.SLOPE_GRADIENT},
    catches={"forgets_the_distance_in_slope_gradients", "returns_zero_gradients_of_slopes"},
)
def slope_gradient_follows_from_bias_gradients(attention: Implementation, problem: Problem) -> None:
    """The gradient of a slope is the sum of the bias gradients, each times minus the distance.

        dm_h = -sum_ij db_ij |p_i - r_j|    over all batch elements; b and db: (B, H, N, M)

    Here p_i and r_j are the positions of q_i and k_j. Biases and slopes are added to the same
    scores. So two gradients of the target are compared with each other, without the definition.
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
