"""Section I, continued. A text that is read in parts, and positions beside everything else.

Who knows where his tokens stand may read them when and where he likes: in chunks, one by one, with
a cache that has room for more, or with other texts in the same array.
"""

from dataclasses import replace

import numpy as np

from spec.attention import moves, rounding
from spec.attention.clauses.places import IN_ORDER, in_rows, positions_of, standing, unplaced
from spec.attention.clauses.slopes import UNBIASED
from spec.attention.domain import EVERY, PLAIN, Problems
from spec.attention.notation import UNBOUNDED, Problem
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
def a_chunk_is_a_part_of_the_whole(attention: Implementation, problem: Problem) -> None:
    """Some of the queries, with their positions, get what they get among the others.

        o(q[t:u]; k, v; p[t:u], r) = o(q; k, v; p, r)[t:u]

    A corner would have moved with the number of queries; a place does not.
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
def tokens_are_read_one_by_one_from_a_long_cache(
    attention: Implementation, problem: Problem
) -> None:
    """A token that knows its place reads from a cache of the whole text what it is to read.

        o(q_t; k, v; p = t; causal) = o(q, k, v; causal)_t    for N = M

    What lies behind its place may be there already, or be whatever lay in the memory before.
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
def tokens_at_one_place_see_each_other(attention: Implementation, problem: Problem) -> None:
    """If all tokens stand at the same place, nothing lies ahead, and nothing is far.

        o(p = r = c; causal, a window, slopes) = o

    Alternatives that are tried at once stand at one place, and see what came before and themselves.
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
def each_sequence_has_positions_of_its_own(attention: Implementation, problem: Problem) -> None:
    """The positions of one sequence concern no other.

        o(p, r)_b = o(p', r')_b    where they differ only in the first sequence, and b is another

    Texts of several lengths, padded to the left, are in one batch at several places. Whoever leaves
    out what no query sees, in all of a batch, may add the rest up in another order.
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
def slopes_go_by_positions(attention: Implementation, problem: Problem) -> None:
    """Slopes take from a score what a mask of the distances between places takes.

        o(slopes m; p, r) = o(mask -m_h |p_i - r_j|)

    That a mask is rounded to the format, and slopes are not, is allowed for as it is in Y1.
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
def places_may_be_turned_round(attention: Implementation, problem: Problem) -> None:
    """Where all places are negative, what lay behind lies ahead, and as far away.

        o(-p, -r; (R, L)) = o(p, r; (L, R))

    Signed slopes turn round as well: -m takes the place of m.
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
def places_count_beside_everything_else(attention: Implementation, problem: Problem) -> None:
    """Places are what they are, whatever else is asked for.

        s_ij = cap(scale <q_i, k_j>) + b_ij - m_h |p_i - r_j|,    -inf if r_j > p_i, mask, segments

    Each option has a path of its own in fast code, and each of them has to count alike.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))
