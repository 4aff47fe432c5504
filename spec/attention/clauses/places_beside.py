"""Section I, continued. Tiles hold rows and not places; nor do gradients, or what is shown.

A kernel that skips tiles reads of each the places of its tokens, or skips none: those of a tile
need not follow each other. And what is computed a second time counts by the same places.
"""

from dataclasses import replace

import numpy as np

from spec.attention import moves, rounding
from spec.attention.clauses.places import PLACED, unplaced
from spec.attention.clauses.window_edges import narrowed
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal

SMOOTH = ("lattice", "normal", "heavy")


@clause(
    "I15",
    over=Problems(masks=PLAIN, causal=True, positions=True, tiled="keys"),
    catches={"reads_tiles_up_to_that_of_the_row", "ignores_the_positions"},
    effort=2,
)
def tiles_of_keys_hold_any_places(attention: Implementation, problem: Problem) -> None:
    """However many keys there are, each is seen by who stands at its place or behind it.

        o_i = sum_j a_ij v_j    over the keys with r_j <= p_i, for any M

    The row of a query bounds no tile of keys: its place does.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "I16",
    over=Problems(masks=PLAIN, windows=True, positions=True, least=(1, 1, 33, 33)),
    catches={"visits_the_tiles_of_a_window_of_rows", "has_positions_for_causality_alone"},
    effort=2,
)
def windows_begin_at_a_place(attention: Implementation, problem: Problem) -> None:
    """However many queries there are, each has its window around the place where it stands.

        o_i = sum_j a_ij v_j    over the keys with -L <= r_j - p_i <= R, for any N

    A block of queries is no stretch of text, and the keys of its window may lie in any rows.
    """
    near = narrowed(problem)

    o = attention.forward(near)

    equal(o, rounding.reference(near).o, within=rounding.of_output(near))


@clause(
    "I17",
    over=Problems(masks=PLAIN, segments=True, positions=True),
    catches={"forgets_positions_beside_segments", "ignores_the_positions"},
    effort=2,
)
def texts_count_from_where_they_begin(attention: Implementation, problem: Problem) -> None:
    """Of two texts in one array, the second counts its own places, and returns what it does alone.

        o(x; segments, p, r)_t = o(x_t; p_t, r_t)    for the tokens t of the second text

    Positions start anew with each text, and causality by the rows of the array does not.
    """
    n, m = (problem.chance().below(length) for length in (problem.N, problem.M))
    i, j = (np.tile(np.arange(x), (problem.B, 1)) for x in (problem.N, problem.M))
    whole = problem.but(query_positions=np.where(i < n, i, i - n), query_segments=1 * (i >= n))
    whole = whole.but(key_positions=np.where(j < m, j, j - m), key_segments=1 * (j >= m))
    alone = moves.of_keys(moves.of_queries(whole, slice(n, None)), slice(m, None))
    alone = alone.but(query_segments=None, key_segments=None)

    o, p = attention.forward(whole), attention.forward(alone)

    within = rounding.of_output(whole)[:, :, n:] + rounding.of_output(alone)
    equal(o[:, :, n:], p, within=within)


@clause(
    "I18",
    over=replace(PLACED, slopes=False, families=SMOOTH),
    needs={Capability.GRADIENTS, Capability.MASK},
    catches={"differentiates_without_the_positions"},
    effort=2,
)
def gradients_are_those_of_the_mask(attention: Implementation, problem: Problem) -> None:
    """What flows back is what flows back under the mask that positions are.

        dq, dk, dv (p, r; causal; (L, R)) = dq, dk, dv (mask)

    This is I1 differentiated: no gradient goes by rows either.
    """
    written = unplaced(moves.written_out(problem))

    one, two = attention.backward(problem), attention.backward(written)

    here, there = rounding.of_gradients(problem), rounding.of_gradients(written)
    equal(one.q, two.q, within=here.q + there.q)
    equal(one.k, two.k, within=here.k + there.k)
    equal(one.v, two.v, within=here.v + there.v)


@clause(
    "I19",
    over=Problems(masks=PLAIN, slopes=True, positions=True, families=SMOOTH),
    needs={Capability.SLOPE_GRADIENT},
    catches={"differentiates_slopes_by_rows"},
    effort=2,
)
def the_gradient_of_a_slope_goes_by_places(attention: Implementation, problem: Problem) -> None:
    """A slope hears of every score by how far its key stands from its query.

        dm_h = -sum_ij ds_ij |p_i - r_j|

    By rows it would hear of how far other tokens stand.
    """
    exact, budget = rounding.reference(problem).gradients.slopes, rounding.of_slopes(problem)
    assert exact is not None

    dm = attention.slope_gradient(problem)

    equal(dm, exact, within=budget)


@clause("I20", over=PLACED, needs={Capability.WEIGHTS}, catches={"shows_weights_by_rows"})
def the_weights_that_are_shown_go_by_places(attention: Implementation, problem: Problem) -> None:
    """The weights that are returned are those by which values are weighted.

        a_ij = exp(s_ij) / sum_j exp(s_ij)    over the keys that places leave

    Else what is shown explains another output than the one that is returned.
    """
    a = attention.weights(problem)

    equal(a, rounding.reference(problem).weights, within=rounding.of_weights(problem))


@clause("I21", over=PLACED, needs={Capability.LSE}, catches={"measures_lse_by_rows"})
def the_log_sum_exp_goes_by_places(attention: Implementation, problem: Problem) -> None:
    """The log-sum-exp counts the keys that places leave, as far away as they are.

        lse_i = log sum_j exp(s_ij)    over r_j <= p_i, if it is causal

    Parts of a text that several machines hold are merged by it, and each of them has other places.
    """
    lse = attention.lse(problem)

    equal(lse, rounding.reference(problem).lse, within=rounding.of_lse(problem))
