"""Section I. Explicit positions replace row numbers.

A query i has a position p_i and a key j a position r_j, integers that a caller may pass
(`query_positions`, `key_positions`). Causality, windows and ALiBi slopes use them and nothing else:

    j is in the future of i   r_j > p_i        in its window   -L <= r_j - p_i <= R
    its slope takes           m_h |p_i - r_j|

If one side has no positions, it counts from 0. If both have none, positions are row numbers, and
only then the alignment of the causal diagonal matters. Positions may repeat, have gaps, come in any
order, and be negative. A KV cache, a chunk, left padding, and a sequence split across machines are
just other positions. Apart from leading keys, only differences of positions matter.
"""

from dataclasses import replace

import numpy as np

from spec.attention import moves, rounding
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import in_places
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal
from spec.notation import Array

PLACED = Problems(masks=PLAIN, positions=True)
IN_ORDER = Problems(masks=PLAIN, positions=True, causal=True)
SHIFTS = (-1000, 37, 2**15, 2**24 + 1)  # some are past the limits of bfloat16, int16, float32


def positions_of(problem: Problem) -> tuple[Array, Array]:
    """The positions of queries and keys, of which at least one is given.   (B, N) and (B, M)"""
    both = moves.placed(problem)
    assert both.query_positions is not None
    assert both.key_positions is not None
    return both.query_positions, both.key_positions


def standing(problem: Problem, p: Array, r: Array) -> Problem:
    """The problem with these positions."""
    return problem.but(query_positions=p, key_positions=r)


def in_rows(problem: Problem) -> Problem:
    """The problem with row numbers as positions."""
    p, r = positions_of(problem)
    return standing(problem, 0 * p + np.arange(problem.N), 0 * r + np.arange(problem.M))


def unplaced(problem: Problem) -> Problem:
    """The problem without positions."""
    return problem.but(query_positions=None, key_positions=None)


@clause(
    "I1",
    over=replace(PLACED, slopes=False),
    needs={Capability.MASK},
    catches={
        "ignores_the_positions",
        "ignores_the_positions_of_queries",
        "ignores_the_positions_of_keys",
        "adds_the_corner_to_positions",
        "uses_the_positions_of_the_first_sequence",
        "uses_the_positions_of_queries_for_keys",
        "uses_the_positions_of_keys_for_queries",
        "hides_what_stands_at_the_same_place",
        "has_positions_for_windows_alone",
        "has_positions_for_causality_alone",
        "stops_positions_at_the_last_row",
        "takes_distances_without_a_sign",
        "takes_positions_without_a_sign",
    },
    effort=4,
)
def positions_equal_an_explicit_mask(attention: Implementation, problem: Problem) -> None:
    """Causality and windows by positions equal the boolean mask computed from these positions.

        o(p, r; causal; (L, R)) = o(mask = (r_j <= p_i and -L <= r_j - p_i <= R))

    Here p_i is the position of query i, and r_j that of key j. With n leading keys, the bound -L
    applies only if r_j >= n. A causal query before all keys is fully masked.
    """
    written = unplaced(moves.written_out(problem))

    o, p = attention.forward(problem), attention.forward(written)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(written))


@clause(
    "I2",
    over=replace(PLACED, square=True, in_rows=True),
    catches={"hides_what_stands_at_the_same_place", "is_causal_where_there_are_positions"},
)
def row_numbers_are_the_default_positions(attention: Implementation, problem: Problem) -> None:
    """Passing row numbers as positions gives the same output as passing no positions.

        o(p = 0 1 2 ..; r = 0 1 2 ..) = o    for N = M, where both alignments agree

    Here p are the positions of queries, and r those of keys. Without them, row t has position t.
    """
    counted, plain = in_rows(problem), unplaced(problem)

    o, p = attention.forward(counted), attention.forward(plain)

    equal(o, p, within=rounding.of_output(counted) + rounding.of_output(plain))


@clause(
    "I3",
    over=Problems(positions=True),
    needs={Capability.POSITIONED_ALONE},
    catches={"wants_positions_of_both_sides"},
    effort=2,
)
def missing_positions_count_from_zero(attention: Implementation, problem: Problem) -> None:
    """If only queries or only keys have positions, the other side counts from 0.

        o(p; r = 0 1 2 ..) = o(p),    o(p = 0 1 2 ..; r) = o(r)    p of queries, r of keys

    Then the causal alignment has no effect: it applies only if neither side has positions.
    """
    p, r = positions_of(problem)
    if problem.seed % 2:
        alone = problem.but(query_positions=p, key_positions=None)
    else:
        alone = problem.but(query_positions=None, key_positions=r)
    both = standing(alone, *positions_of(alone))

    one, two = attention.forward(alone), attention.forward(both)

    equal(one, two, within=rounding.of_output(alone) + rounding.of_output(both))


@clause(
    "I4",
    over=Problems(positions=True, causal=False, slopes=False),
    catches={"is_causal_where_there_are_positions", "takes_a_gap_for_the_start_of_a_text"},
)
def positions_alone_change_nothing(attention: Implementation, problem: Problem) -> None:
    """Without causality, a window or slopes, positions have no effect.

        o(p, r) = o

    Positions do not separate packed sequences either: segments do.
    """
    plain = unplaced(problem)

    o, p = attention.forward(problem), attention.forward(plain)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(plain))


@clause(
    "I5",
    over=replace(PLACED, firsts=False),
    catches={
        "keeps_positions_in_bfloat16",
        "keeps_positions_in_float32",
        "keeps_positions_in_16_bits",
        "takes_positions_without_a_sign",
        "takes_places_below_zero_for_padding",
        "stops_positions_at_the_last_row",
        "ignores_the_positions_of_queries",
        "ignores_the_positions_of_keys",
    },
    effort=4,
    proof=in_places.places_have_no_origin,
)
def shifting_all_positions_changes_nothing(attention: Implementation, problem: Problem) -> None:
    """Adding one number to all positions changes nothing, if a window keeps no leading keys.

        o(p + c, r + c) = o(p, r)    p, r: the positions of queries and keys

    A sequence may begin anywhere. Rounding must not make two large positions equal.
    """
    p, r = positions_of(problem)
    shifts = tuple(c - max(problem.N, problem.M) // 2 for c in SHIFTS)
    c = problem.chance().choice(shifts)
    before, after = standing(problem, p, r), standing(problem, p + c, r + c)

    one, two = attention.forward(before), attention.forward(after)

    equal(two, one, within=rounding.of_output(before) + rounding.of_output(after))


@clause(
    "I6",
    over=replace(IN_ORDER, windows=False, slopes=False),
    catches={
        "stops_positions_at_the_last_row",
        "keeps_positions_in_bfloat16",
        "takes_places_below_zero_for_padding",
    },
    effort=2,
    proof=in_places.causality_knows_the_order_alone,
)
def causality_depends_only_on_position_order(attention: Implementation, problem: Problem) -> None:
    """Causality depends only on the order of positions, not on their differences.

        o(f(p), f(r)) = o(p, r)    for positions p, r of queries and keys, f strictly increasing

    Differences of positions matter only to windows and slopes.
    """
    p, r = positions_of(problem)
    both = np.concatenate([p, r], axis=1)
    ranks = np.unique(both, return_inverse=True)[1].reshape(both.shape)
    steps = problem.chance().integers(1, 64, both.size).cumsum() - 32 * both.size
    moved = standing(problem, *np.split(steps[ranks], [problem.N], axis=1))
    problem = standing(problem, p, r)

    before, after = attention.forward(problem), attention.forward(moved)

    equal(after, before, within=rounding.of_output(problem) + rounding.of_output(moved))


@clause(
    "I7",
    over=Problems(positions=True, least=(1, 1, 2, 2)),
    catches={
        "takes_keys_to_be_in_order",
        "takes_the_keys_of_a_window_to_be_in_order",
        "counts_queries_from_the_first",
        "counts_keys_from_the_first",
        "ignores_the_positions",
        "takes_a_gap_for_the_start_of_a_text",
    },
    effort=4,
    proof=in_places.tokens_move_with_their_places,
)
def token_order_does_not_matter_with_positions(attention: Implementation, problem: Problem) -> None:
    """Queries and keys may come in any order, if their positions are permuted with them.

        o(q_s; k_t, v_t; p_s, r_t) = o(q; k, v; p, r)_s

    Here s and t permute queries and keys, with their positions p and r, their segments, and the
    rows and columns of a mask. Causality, windows and slopes use positions, never row numbers.
    """
    whole = moves.placed(problem)
    s, t = (moves.permutation(whole, length) for length in (whole.N, whole.M))
    mixed = moves.of_keys(moves.of_queries(whole, s), t)

    before, after = attention.forward(whole), attention.forward(mixed)

    within = rounding.of_output(whole)[:, :, s] + rounding.of_output(mixed)
    equal(after, before[:, :, s], within=within)
