"""Section J. Sequences packed into one array do not affect each other.

Each token of a packed array has an integer id. Tokens with the same id form a segment:

    query i may attend to key j    only if    seg_i = seg_j >= 0

(packing: Krell et al. 2021). A token with a negative id is padding and belongs to no sequence. It
attends to no key, and no query attends to it, not even other padding. All other masking applies in
addition. Causality, windows and ALiBi slopes count positions through the array. Under the
convention `positions=in-sequence` they count positions within each sequence. Functions that receive
packed sequences as cumulative lengths do so.

Packing avoids the padding of short sequences. It must not change any result.
"""

import numpy as np

from spec.attention import moves, rounding
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import exactly
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal
from spec.notation import Array

TEXTS = Problems(segments=True)
LOOSE = Problems(segments=True, causal=False, slopes=False)  # positions do not matter
ANYWHERE = {Capability.LABELS, Capability.OTHERS}  # any ids, and padding anywhere


def segments_of(problem: Problem) -> tuple[Array, Array]:
    """Copies of the segment ids of queries and keys, to be changed.   (B, N) and (B, M)"""
    assert problem.query_segments is not None
    assert problem.key_segments is not None
    return problem.query_segments.copy(), problem.key_segments.copy()


def labelled(problem: Problem, queries: Array, keys: Array) -> Problem:
    """The problem with other segment ids."""
    return problem.but(query_segments=queries, key_segments=keys)


def met(problem: Problem) -> Problem:
    """The problem with the first query and key of each batch element in the same segment."""
    queries, keys = segments_of(problem)
    keys[:, 0] = np.maximum(keys[:, 0], 0)
    queries[:, 0] = keys[:, 0]
    return labelled(problem, queries, keys)


def of_the_first(problem: Problem) -> tuple[Array, Array]:
    """True where a query, or a key, is in the first query's segment.   (B, N) and (B, M)"""
    queries, keys = segments_of(problem)
    return queries == queries[:, :1], keys == queries[:, :1]


def padded(problem: Problem) -> Problem:
    """The problem with more padding tokens: at least one query and one key per batch element."""
    chance = problem.chance()
    both = segments_of(problem)
    for x in both:
        lost = chance.integers(0, 3, x.shape) == 0
        lost[:, chance.below(x.shape[1])] = True
        x[lost] = -1
    return labelled(problem, *both)


@clause(
    "J1",
    over=Problems(masks=PLAIN, segments=True),
    needs={Capability.MASK},
    catches={
        "ignores_the_segments",
        "has_segments_where_it_is_causal",
        "takes_padding_for_a_text",
        "lets_padding_see_everything",
        "shows_padding_to_everybody",
        "takes_zero_for_padding",
        "takes_segments_for_padding",
        "sees_earlier_texts_too",
        "uses_the_segments_of_the_first_sequence",
        "uses_the_segments_of_queries_for_keys",
        "uses_the_segments_of_keys_for_queries",
        "numbers_texts_by_their_starts",
    },
    effort=2,
)
def segment_ids_equal_boolean_mask(attention: Implementation, problem: Problem) -> None:
    """Segment ids have the same effect as the boolean mask that compares them.

        o(segments) = o(mask = (seg_i = seg_j >= 0))

    Code must treat ids >= 0 as labels, which are either equal or not. Under the convention
    `positions=in-sequence`, the mask contains causality and windows too, and there are no slopes.
    """
    if problem.restarts:  # without segments, slopes would count other positions
        problem = problem.but(slopes=None)
    written = moves.written_out(problem).but(query_segments=None, key_segments=None)

    o, p = attention.forward(problem), attention.forward(written)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(written))


@clause(
    "J2",
    over=LOOSE,
    catches={
        "ignores_the_segments",
        "takes_segments_for_padding",
        "sees_earlier_texts_too",
        "uses_the_segments_of_queries_for_keys",
        "uses_the_segments_of_keys_for_queries",
        "numbers_texts_by_their_starts",
        "takes_zero_for_padding",
        "takes_the_texts_of_queries_for_keys",
        "reads_into_the_next_text",
        "loses_the_last_text",
        "reads_to_the_end_of_the_array",
        "has_the_length_of_the_first_text_for_all",
        "takes_texts_to_be_of_one_length",
        "finds_keys_by_the_heads_of_queries",
        "has_the_length_of_the_first_sequence",
        "has_the_longest_length_for_all",
        "adds_where_the_first_sequence_ends",
        "adds_to_the_first_sequence",
        "takes_the_first_length_for_all",
        "takes_the_lengths_of_queries_for_keys",
        "sees_the_key_at_its_length",
        "takes_padding_to_come_first",
        "has_one_row_of_pages_for_all_texts",
        "takes_the_row_of_its_first_query",
        "counts_pages_through_all_texts",
    },
    effort=2,
    proof=exactly.texts_are_separate,
)
def packed_sequence_equals_separate_call(attention: Implementation, problem: Problem) -> None:
    """A packed sequence gets the same output as in a separate call without the other sequences.

        o(x; segments)_t = o(x_t)    for the tokens t of one segment, and their inputs x_t

    So packing sequences to save time does not change the result.
    """
    problem = met(problem)
    b = problem.chance().below(problem.B)
    queries, keys = (np.flatnonzero(x[b]) for x in of_the_first(problem))
    alone = moves.of_keys(moves.of_queries(moves.of_batch(problem, [b]), queries), keys)
    alone = alone.but(query_segments=None, key_segments=None)

    o, p = attention.forward(problem), attention.forward(alone)

    within = rounding.of_output(problem)[[b]][:, :, queries] + rounding.of_output(alone)
    equal(o[[b]][:, :, queries], p, within=within)


@clause("J3", over=TEXTS, catches={"takes_zero_for_padding"})
def single_segment_equals_no_segments(attention: Implementation, problem: Problem) -> None:
    """If all tokens have the same segment id, and it is not negative, the ids mask no key.

        o(seg = c) = o    for any c >= 0

    Zero is an id like any other. Only negative ids mark padding.
    """
    c = 5 * (problem.seed % 2)
    one = labelled(problem, *(np.full_like(x, c) for x in segments_of(problem)))
    none = problem.but(query_segments=None, key_segments=None)

    o, p = attention.forward(one), attention.forward(none)

    equal(o, p, within=rounding.of_output(one) + rounding.of_output(none))


@clause(
    "J4",
    over=TEXTS,
    catches={
        "takes_zero_for_padding",
        "sees_earlier_texts_too",
        "takes_segments_to_be_sorted",
        "keeps_segments_in_four_bits",
        "keeps_segments_in_a_byte",
    },
    effort=2,
    proof=exactly.segments_are_labels,
)
def renumbering_segments_changes_nothing(attention: Implementation, problem: Problem) -> None:
    """Renumbering the segments does not change the output.

        o(seg) = o(f(seg))    for any one-to-one f that is negative exactly where seg is

    Ids need not start at a fixed number, be consecutive, increase, or be small.
    """
    both = segments_of(problem)
    labels = np.unique(np.concatenate([x[x >= 0] for x in both]))
    new = 256 * moves.permutation(problem, len(labels)) + 5
    others = (np.where(x < 0, -7, np.append(new, 0)[np.searchsorted(labels, x)]) for x in both)
    renamed = labelled(problem, *others)

    o, p = attention.forward(problem), attention.forward(renamed)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(renamed))


@clause(
    "J5",
    over=TEXTS,
    needs=ANYWHERE,
    catches={
        "takes_padding_for_a_text",
        "lets_padding_see_everything",
        "shows_padding_to_everybody",
        "takes_no_keys_for_all_keys",
    },
    effort=2,
    proof=exactly.padding_is_no_text,
)
def padding_queries_and_keys_are_masked(attention: Implementation, problem: Problem) -> None:
    """A padding query is fully masked, and a padding key is masked for every query.

        o_i = 0    for seg_i < 0,    a_ij = 0    for seg_j < 0

    Padding is not one more segment. Code that only compares ids finds -1 equal to -1, so padding
    attends to padding.
    """
    more = padded(problem)
    queries, _ = segments_of(more)

    o = attention.forward(more)

    equal(np.where((queries < 0)[:, None, :, None], o, 0), np.zeros(o.shape), within=0)
    equal(o, rounding.reference(more).o, within=rounding.of_output(more))
