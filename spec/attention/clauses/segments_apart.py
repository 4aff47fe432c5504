"""Section J, continued. Texts stay apart wherever they lie, and beside everything else.

Kernels read tokens in tiles, and texts end where they please; most are told of them by cumulative
lengths, which need texts to be sorted, and counted alike on both sides.
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
def texts_need_not_be_sorted(attention: Implementation, problem: Problem) -> None:
    """Tokens of several texts may lie in any order, mixed with each other.

        o(q_p; k_r, v_r; segments_p, segments_r) = o(q; k, v; segments)_p

    A segment is a number of a token, not a place where a text ends.
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
def texts_are_apart_beside_everything_else(attention: Implementation, problem: Problem) -> None:
    """A key is seen if it is of the same text, and everything else leaves it as well.

        a_ij > 0    only if    seg_i = seg_j >= 0, j <= p_i if causal, mask_ij, ...

    Each of these has a path of its own in fast code, and segments have to be on all of them.
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
def a_text_without_queries_may_be_left_out(attention: Implementation, problem: Problem) -> None:
    """Keys of a text that has no query may as well not be there.

        o(q; k, v) = o(q; k_r, v_r)    where r are the keys of all other texts

    Where texts are counted and not compared, one that is empty on one side moves all behind it.
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
def each_sequence_has_segments_of_its_own(attention: Implementation, problem: Problem) -> None:
    """The segments of one sequence change nothing of another one.

        o(segments)_b = o(segments')_b    where they differ in the first sequence, and b is another

    Bits may change: where tokens are packed, a text lies in other tiles as those before it do.
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
def texts_end_within_tiles_of_keys(attention: Implementation, problem: Problem) -> None:
    """However many keys there are, a text ends where it ends.

        o_i = sum_j a_ij v_j    over the keys of the text of i, for any M

    A tile that holds the end of a text is neither read whole nor skipped.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "J13",
    over=Problems(masks=PLAIN, segments=True, tiled="queries"),
    catches={"takes_a_tile_of_queries_for_one_text", "ignores_the_segments"},
    effort=2,
)
def texts_end_within_tiles_of_queries(attention: Implementation, problem: Problem) -> None:
    """However many queries there are, each has a text of its own.

    o_i = sum_j a_ij v_j    over the keys of the text of i, for any N
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))
