"""Section J, continued. Segments stay separate in any order and with every other option.

Kernels read tokens in tiles, but a segment may end anywhere in a tile. Most kernels receive
segments as cumulative lengths. These require sorted segments, counted in the same way for queries
and for keys.
"""

import numpy as np

from spec.attention import moves, rounding
from spec.attention.clauses.segments import ANYWHERE, labelled, segments_of
from spec.attention.domain import EVERY, PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import exactly
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal


@clause(
    "J8",
    over=Problems(segments=True, causal=False, slopes=False, least=(1, 1, 2, 2)),
    needs=ANYWHERE,
    catches={
        "takes_segments_to_be_sorted",
        "numbers_texts_by_their_starts",
        "takes_a_tile_of_keys_for_one_text",
        "takes_a_tile_of_queries_for_one_text",
        "uses_the_segments_of_queries_for_keys",
    },
    effort=2,
)
def segments_need_not_be_contiguous(attention: Implementation, problem: Problem) -> None:
    """Tokens of several segments may be interleaved in any order.

        o(q_p; k_r, v_r; segments_p, segments_r) = o(q; k, v; segments)_p

    Here p and r are permutations of the queries and of the keys, also in a mask. A segment id is a
    property of a token, and does not mark a position where a sequence ends.
    """
    p, r = (moves.permutation(problem, length) for length in (problem.N, problem.M))
    mixed = moves.of_keys(moves.of_queries(problem, p), r)

    before, after = attention.forward(problem), attention.forward(mixed)

    within = rounding.of_output(problem)[:, :, p] + rounding.of_output(mixed)
    equal(after, before[:, :, p], within=within)


@clause(
    "J9",
    over=Problems(masks=EVERY, segments=True),
    catches={
        "forgets_segments_beside_a_mask",
        "forgets_segments_beside_causality",
        "forgets_segments_beside_a_window",
        "has_no_segments_for_a_single_query",
        "has_segments_where_it_is_causal",
        "counts_causality_from_the_start_of_a_text",
        "uses_the_segments_of_the_first_sequence",
        "loses_the_last_key_of_each_text",
        "starts_every_text_anew",
        "hangs_texts_at_their_first_keys",
        "hangs_texts_by_the_longest",
        "counts_places_through_the_array",
        "steps_over_texts_of_one_query",
        "hangs_queries_by_the_longest_length",
        "takes_the_lengths_of_keys_for_queries",
        "answers_queries_behind_their_length",
        "forgets_lengths_where_it_is_causal",
        "skips_a_page_that_is_not_full",
    },
    effort=4,
)
def segments_combine_with_every_other_option(attention: Implementation, problem: Problem) -> None:
    """A key is visible only if it is in the query's segment and no other option masks it.

        a_ij > 0    only if    seg_i = seg_j >= 0, r_j <= p_i if causal, mask_ij, ...

    Here p_i is the position of query i, and r_j that of key j. Fast code often has a separate path
    for each of these options. Every path must apply segments.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "J10",
    over=Problems(segments=True, causal=False, slopes=False, least=(1, 1, 1, 2)),
    needs=ANYWHERE,
    catches={"ignores_the_segments", "numbers_texts_by_their_starts"},
    effort=2,
    proof=exactly.a_text_that_nobody_reads_may_go,
)
def segment_without_queries_has_no_influence(attention: Implementation, problem: Problem) -> None:
    """Removing the keys of a segment that has no queries does not change the output.

        o(q; k, v) = o(q; k_r, v_r)    where r are the keys of all other segments

    Code that numbers segments in order, instead of comparing ids, fails here: a segment that is
    empty on one side shifts the numbers of all later segments.
    """
    queries, keys = segments_of(problem)
    lost = problem.chance().integers(0, 3, problem.M) == 0
    lost[0], lost[-1] = False, True
    keys[:, lost] = 1 + max(queries.max(), keys.max())
    more = labelled(problem, queries, keys)
    fewer = moves.of_keys(more, np.flatnonzero(~lost))

    o, p = attention.forward(more), attention.forward(fewer)

    equal(o, p, within=rounding.of_output(more) + rounding.of_output(fewer))


@clause(
    "J11",
    over=Problems(segments=True, least=(2, 1, 1, 1)),
    needs={Capability.LABELS},
    catches={"uses_the_segments_of_the_first_sequence"},
)
def each_batch_element_has_its_own_segments(attention: Implementation, problem: Problem) -> None:
    """Changing the segment ids of one batch element does not change the output of the others.

        o(segments)_b = o(segments')_b    where they differ in batch element 0 only, and b > 0

    The last bits may change: in a packed layout, earlier sequences determine where the tiles of a
    sequence begin.
    """
    both = segments_of(problem)
    for x in both:
        x[0] = np.arange(x.shape[1]) % 2
    other = labelled(problem, *both)

    before, after = attention.forward(problem), attention.forward(other)

    within = rounding.of_output(problem) + rounding.of_output(other)
    equal(after[1:], before[1:], within=within[1:])


@clause(
    "J12",
    over=Problems(masks=PLAIN, segments=True, tiled="keys"),
    catches={
        "takes_a_tile_of_keys_for_one_text",
        "ignores_the_segments",
        "numbers_texts_by_their_starts",
    },
    effort=2,
)
def segments_may_end_inside_a_key_tile(attention: Implementation, problem: Problem) -> None:
    """The output is correct for any number of keys, even if a segment ends inside a tile of keys.

        o_i = sum_j a_ij v_j    over the visible keys of the segment of i, for any M

    A kernel must neither read such a tile as a whole nor skip it.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "J13",
    over=Problems(masks=PLAIN, segments=True, tiled="queries"),
    catches={"takes_a_tile_of_queries_for_one_text", "ignores_the_segments"},
    effort=2,
)
def segments_may_end_inside_a_query_tile(attention: Implementation, problem: Problem) -> None:
    """The output is correct for any number of queries, even if a segment ends inside a query tile.

        o_i = sum_j a_ij v_j    over the visible keys of the segment of i, for any N

    Such a tile holds queries of several segments, so a kernel must compare the segment ids of each
    query, not of the tile as a whole.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))
