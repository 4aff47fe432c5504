"""Section I, continued. Positions in chunks, in decoding and with other options.

With explicit positions, a sequence may be processed in any way: in chunks, token by token, with a
cache that is larger than the sequence, or with other sequences in the same array.
"""

from dataclasses import replace

import numpy as np

from spec.attention import moves, rounding
from spec.attention.clauses.places import IN_ORDER, in_rows, positions_of, standing, unplaced
from spec.attention.clauses.slopes import UNBIASED
from spec.attention.contents import UNBOUNDED
from spec.attention.domain import EVERY, PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import in_places
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal


@clause(
    "I8",
    over=Problems(positions=True, least=(1, 1, 2, 1)),
    catches={
        "ignores_the_positions_of_queries",
        "adds_the_corner_to_positions",
        "has_a_single_query_stand_at_the_end",
    },
    effort=2,
    proof=in_places.a_chunk_is_a_part_of_the_whole,
)
def query_chunk_with_positions_matches_full_output(
    attention: Implementation, problem: Problem
) -> None:
    """A chunk of the queries, with their positions, gives the same rows as all queries together.

        o(q[t:u]; k, v; p[t:u], r) = o(q; k, v; p, r)[t:u]    p, r: positions of queries, keys

    A causal diagonal aligned to the bottom right would move with the number of queries. Explicit
    positions do not.
    """
    whole, chance = moves.placed(problem), problem.chance()
    t = chance.below(whole.N)
    u = t + 1 if problem.seed % 2 else chance.randrange(t + 1, whole.N + 1)
    chunk = moves.of_queries(whole, slice(t, u))

    o, p = attention.forward(whole), attention.forward(chunk)

    within = rounding.of_output(whole)[:, :, t:u] + rounding.of_output(chunk)
    equal(p, o[:, :, t:u], within=within)


@clause(
    "I9",
    over=replace(IN_ORDER, square=True, in_rows=True, least=(1, 1, 2, 2)),
    catches={
        "ignores_the_positions",
        "adds_the_corner_to_positions",
        "has_a_single_query_stand_at_the_end",
        "ignores_the_positions_of_queries",
    },
)
def decoding_step_with_position_matches_full_output(
    attention: Implementation, problem: Problem
) -> None:
    """One query at position t, with the whole sequence as keys, gives row t of the full output.

        o(q_t; k, v; p = t; causal) = o(q, k, v; causal)_t    for N = M

    The keys may be a KV cache that is larger than needed: causality masks all rows after t.
    """
    t = problem.chance().below(problem.N)
    whole, step = unplaced(problem), moves.of_queries(in_rows(problem), [t])

    o, p = attention.forward(whole), attention.forward(step)

    within = rounding.of_output(whole)[:, :, t : t + 1] + rounding.of_output(step)
    equal(p, o[:, :, t : t + 1], within=within)


@clause(
    "I10",
    over=IN_ORDER,
    needs={Capability.FUTURE},
    catches={"hides_what_stands_at_the_same_place", "ignores_the_positions"},
    proof=in_places.tokens_at_one_place_see_each_other,
)
def tokens_at_one_position_attend_to_each_other(
    attention: Implementation, problem: Problem
) -> None:
    """If all tokens are at the same position, causality, windows and slopes have no effect.

        o(p = r = c; causal, a window, slopes) = o(none of these)

    No key is ahead then, and every distance is zero. Alternative tokens that are tried at once
    share a position. They attend to the tokens before them, to themselves and to each other.
    """
    p, r = positions_of(problem)
    c = int(r[0, 0])
    heap = standing(problem, np.full_like(p, c), np.full_like(r, c))
    plain = unplaced(problem).but(causal=False, window=UNBOUNDED, slopes=None)

    one, two = attention.forward(heap), attention.forward(plain)

    equal(one, two, within=rounding.of_output(heap) + rounding.of_output(plain))


@clause(
    "I11",
    over=Problems(positions=True, least=(2, 1, 1, 1)),
    catches={"uses_the_positions_of_the_first_sequence"},
)
def each_sequence_has_its_own_positions(attention: Implementation, problem: Problem) -> None:
    """The positions of one sequence in a batch do not affect another sequence.

        o(p, r)_b = o(p', r')_b    where p', r' differ from p, r only in sequence 0, and b > 0

    With left padding, sequences of several lengths in one batch have different positions. The last
    bits may differ, because code may skip keys that are masked in the whole batch, and so sum the
    others in another order.
    """
    p, r = (x.copy() for x in positions_of(problem))
    problem = standing(problem, p.copy(), r.copy())
    p[0], r[0] = np.arange(problem.N) + 1, 2 * np.arange(problem.M)
    other = standing(problem, p, r)

    before, after = attention.forward(problem), attention.forward(other)

    within = rounding.of_output(problem) + rounding.of_output(other)
    equal(after[1:], before[1:], within=within[1:])


@clause(
    "I12",
    over=Problems(masks=UNBIASED, slopes=True, positions=True),
    needs={Capability.BIAS, Capability.FUTURE},
    catches={"measures_slopes_by_rows", "ignores_the_positions"},
    effort=2,
)
def alibi_slopes_use_positions(attention: Implementation, problem: Problem) -> None:
    """ALiBi slopes give the same output as a bias computed from the distances between positions.

        o(slopes m; p, r) = o(mask b_ij - m_h |p_i - r_j|; no positions)    b: the given mask

    A key that is masked by positions has -inf in the mask. A mask is rounded to the format, and
    slopes are not. The difference is allowed for as in Y1.
    """
    written = unplaced(moves.with_slopes_as_a_bias(problem))
    rounded = np.abs(rounding.reference(problem).o - rounding.reference(written).o)

    o, p = attention.forward(problem), attention.forward(written)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(written) + rounded)


@clause(
    "I13",
    over=Problems(masks=PLAIN, windows=True, firsts=False, causal=False, positions=True),
    catches={
        "takes_distances_without_a_sign",
        "takes_positions_without_a_sign",
        "has_positions_for_causality_alone",
        "stops_positions_at_the_last_row",
    },
    effort=2,
    proof=in_places.places_may_be_turned_round,
)
def negating_positions_swaps_window_sides(attention: Implementation, problem: Problem) -> None:
    """Negating all positions and swapping the two sides of the window changes nothing.

        o(-p, -r; (R, L)) = o(p, r; (L, R))    if the window keeps no leading keys

    Keys that were before a query are then after it, at the same distance. Signed slopes change
    their sign as well: -m replaces m.
    """
    p, r = positions_of(problem)
    signed = problem.signed_slopes and problem.slopes is not None
    slopes = -problem.slopes if signed and problem.slopes is not None else problem.slopes
    problem = standing(problem, p, r)
    turned = standing(problem, -p, -r).but(window=problem.window[::-1], slopes=slopes)

    before, after = attention.forward(problem), attention.forward(turned)

    equal(after, before, within=rounding.of_output(problem) + rounding.of_output(turned))


@clause(
    "I14",
    over=Problems(masks=EVERY, positions=True),
    catches={
        "forgets_positions_beside_a_mask",
        "forgets_positions_beside_segments",
        "has_positions_where_it_is_causal",
        "uses_the_positions_of_queries_for_keys",
        "uses_the_positions_of_keys_for_queries",
        "counts_queries_from_the_first",
        "counts_keys_from_the_first",
        "measures_slopes_by_rows",
    },
    effort=4,
)
def positions_work_with_every_other_option(attention: Implementation, problem: Problem) -> None:
    """Positions keep their meaning together with every other option.

        s_ij = cap(scale <q_i, k_j>) + b_ij - m_h |p_i - r_j|,    -inf if key j is masked

    The positions p_i and r_j also decide which keys causality and windows mask, as in I1. In fast
    code each option has its own code path, and each path has to use the positions.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))
