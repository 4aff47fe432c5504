"""Section I. Tokens stand where they are said to stand, whatever row they are in.

A query i stands at p_i and a key j at r_j, integers that a caller may give (`query_positions`,
`key_positions`); and causality, windows and slopes go by them and by nothing else:

    j is in the future of i   r_j > p_i        in its window   -L <= r_j - p_i <= R
    its slope takes           m_h |p_i - r_j|

Where one side has none, it counts from 0; where both have none, rows are the places, and a corner
tells how those of queries and keys lie, which else has no say. Positions may repeat, or have gaps,
come in any order, and be negative: a cache, a chunk, padding to the left, and a text that is dealt
out to several machines are all of them other positions.

The mathematics knows differences, so that where a text begins is nothing to it.
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
SHIFTS = (-1000, 37, 2**15, 2**24 + 1)  # where formats end


def positions_of(problem: Problem) -> tuple[Array, Array]:
    """Those of queries and of keys, where one of them is given at least.   (B, N) and (B, M)"""
    both = moves.placed(problem)
    assert both.query_positions is not None
    assert both.key_positions is not None
    return both.query_positions, both.key_positions


def standing(problem: Problem, p: Array, r: Array) -> Problem:
    """The problem with other positions."""
    return problem.but(query_positions=p, key_positions=r)


def in_rows(problem: Problem) -> Problem:
    """The problem with the numbers of rows for positions."""
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
def positions_are_a_mask(attention: Implementation, problem: Problem) -> None:
    """Causality and windows by positions are the mask that says the same.

        o(p, r; causal; (L, R)) = o(mask = (r_j <= p_i and -L <= r_j - p_i <= R))

    So two tokens at one place see each other, and who stands behind nothing sees nothing.
    """
    written = unplaced(moves.written_out(problem))

    o, p = attention.forward(problem), attention.forward(written)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(written))


@clause(
    "I2",
    over=replace(PLACED, square=True, in_rows=True),
    catches={"hides_what_stands_at_the_same_place", "is_causal_where_there_are_positions"},
)
def rows_are_positions(attention: Implementation, problem: Problem) -> None:
    """Without positions, token t stands at place t.

        o(p = 0 1 2 ..; r = 0 1 2 ..) = o    for N = M, where every corner is the same

    Positions say where tokens stand, and these say what rows say anyway.
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
def who_has_no_positions_counts_from_zero(attention: Implementation, problem: Problem) -> None:
    """Where one side alone has positions, the other stands in its rows.

        o(p; r = 0 1 2 ..) = o(p),    o(p = 0 1 2 ..; r) = o(r)

    No corner has a say: it is there for who has no positions at all.
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
def positions_alone_say_nothing(attention: Implementation, problem: Problem) -> None:
    """Where neither causality nor a window nor slopes are asked for, a place is nothing.

        o(p, r) = o

    Nor do places tell texts apart: for that there are segments.
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
def places_have_no_origin(attention: Implementation, problem: Problem) -> None:
    """A number added to all positions changes nothing.

        o(p + c, r + c) = o(p, r)

    So a text may begin anywhere; and however far away that is, two places in it are two.
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
def causality_knows_the_order_alone(attention: Implementation, problem: Problem) -> None:
    """Any other places in the same order are the same to causality.

        o(f(p), f(r)) = o(p, r)    for any increasing f

    What was first, is; by how much is for windows and slopes to ask.
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
def tokens_move_with_their_places(attention: Implementation, problem: Problem) -> None:
    """Queries and keys may come in any order, if their positions come along.

        o(q_s; k_t, v_t; p_s, r_t) = o(q; k, v; p, r)_s

    This is P1 and P2 where something goes by places: nothing else ties a token to its row.
    """
    whole = moves.placed(problem)
    s, t = (moves.permutation(whole, length) for length in (whole.N, whole.M))
    mixed = moves.of_keys(moves.of_queries(whole, s), t)

    before, after = attention.forward(whole), attention.forward(mixed)

    within = rounding.of_output(whole)[:, :, s] + rounding.of_output(mixed)
    equal(after, before[:, :, s], within=within)
