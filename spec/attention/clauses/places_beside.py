"""Section I, continued. Tiles, gradients and weights use positions, not row numbers.

A kernel that skips tiles of keys has to read the positions of the tokens in each tile, because
these need not be consecutive. Gradients, returned weights and the log-sum-exp are often computed
separately, and have to use the same positions.
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
def causality_uses_positions_in_all_key_tiles(attention: Implementation, problem: Problem) -> None:
    """Causality allows exactly the keys at or before a query's position, however many there are.

        o_i = sum_j a_ij v_j    over the keys with r_j <= p_i that nothing else masks, for any M

    Here p_i is the position of query i, and r_j that of key j. Which tiles of keys a kernel may
    skip depends on the position of the query, not on its row.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "I16",
    over=Problems(masks=PLAIN, windows=True, positions=True, least=(1, 1, 33, 33)),
    catches={"visits_the_tiles_of_a_window_of_rows", "has_positions_for_causality_alone"},
    effort=2,
)
def windows_use_positions_in_all_query_tiles(attention: Implementation, problem: Problem) -> None:
    """However many queries there are, the window of each lies around its position, not its row.

        o_i = sum_j a_ij v_j    over keys with -L <= r_j - p_i <= R that nothing else masks

    Here p_i is the position of query i, r_j that of key j, and (L, R) the window. The bound -L does
    not mask leading keys. The queries of a tile need not be consecutive tokens, and their keys may
    lie in any rows.
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
def positions_restart_in_each_packed_sequence(attention: Implementation, problem: Problem) -> None:
    """The second of two packed sequences, with its own positions, gives the same output as alone.

        o(x; segments, p, r)_t = o(x_t; p_t, r_t)    for the tokens t of the second sequence

    Positions restart in each sequence. Row numbers do not, so causality by rows is wrong here.
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
def gradients_by_position_equal_those_by_mask(attention: Implementation, problem: Problem) -> None:
    """Gradients with positions equal gradients with the mask computed from these positions.

        dq, dk, dv (p, r; causal; (L, R)) = dq, dk, dv (mask)

    Here p and r are the positions of queries and keys, and (L, R) is the window. This is I1
    differentiated: the backward pass must not use row numbers either.
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
def slope_gradient_uses_position_distances(attention: Implementation, problem: Problem) -> None:
    """The gradient of an ALiBi slope sums the score gradients, each times minus the distance.

        dm_h = -sum_ij ds_ij |p_i - r_j|    also over the batch elements that share the slope

    Here p_i is the position of query i, and r_j that of key j. A backward pass that uses row
    numbers weights the score gradients by wrong distances.
    """
    exact, budget = rounding.reference(problem).gradients.slopes, rounding.of_slopes(problem)
    assert exact is not None

    dm = attention.slope_gradient(problem)

    equal(dm, exact, within=budget)


@clause("I20", over=PLACED, needs={Capability.WEIGHTS}, catches={"shows_weights_by_rows"})
def returned_weights_use_positions(attention: Implementation, problem: Problem) -> None:
    """The returned attention weights use the same positions as the output.

        a_ij = exp(s_ij - lse_i)    if positions and all other options leave key j visible, else 0

    Weights computed from row numbers do not belong to the output that is returned.
    """
    a = attention.weights(problem)

    equal(a, rounding.reference(problem).weights, within=rounding.of_weights(problem))


@clause("I21", over=PLACED, needs={Capability.LSE}, catches={"measures_lse_by_rows"})
def log_sum_exp_uses_positions(attention: Implementation, problem: Problem) -> None:
    """The log-sum-exp uses positions, both to select the visible keys and to apply slopes.

        lse_i = log sum_j exp(s_ij)    over the visible keys: r_j <= p_i if causal; without a sink

    Here p_i is the position of query i, and r_j that of key j. If a sequence is split across
    several machines, each part has its own positions, and the parts are merged by their
    log-sum-exp.
    """
    lse = attention.lse(problem)

    equal(lse, rounding.reference(problem).lse, within=rounding.of_lse(problem))
