"""Known bugs of packed sequences: attention crosses the boundary between two segments.

Sequences that are packed into one array are separated by a segment id for each token. If a bug
loses the ids, or reads them as something else, tokens attend to another sequence. The training
loss still falls, since the other sequence is text of the same language.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from spec.attention.contents import UNBOUNDED
from spec.attention.mistakes.exponentials import forbid, log_sum, softmax_with_sink, with_sink
from spec.attention.mistakes.given import Given
from spec.attention.mistakes.making import Attend, wrong
from spec.attention.mistakes.placing import Placed, place
from spec.attention.mistakes.steps import Pass
from spec.attention.mistakes.texts import EVERYWHERE, beside, same_text
from spec.attention.mistakes.tiles import TILE
from spec.attention.places import in_text
from spec.notation import Array

Pair = tuple[Array, Array]


def forgotten(where: Callable[[Any], bool], given: Any) -> Array:
    """The step without segments in calls for which `where` is true, and with them in others."""
    return EVERYWHERE if where(given) else same_text(given)


def read(of: Callable[[Array, Array], Pair], given: Any) -> Array:
    """The step with other segment ids, (B, N) and (B, M), instead of the given ones."""
    if given.query_segments is None:
        return EVERYWHERE
    mine, theirs = of(given.query_segments, given.key_segments)
    return same_text(given.but(query_segments=mine, key_segments=theirs))


def relabelled(label: Callable[[Array], Array], given: Any) -> Array:
    """The step with `label` applied to the segment ids; padding stays padding."""
    return read(lambda *both: tuple(np.where(x < 0, x, label(x)) for x in both), given)


@wrong(
    "same_text",
    incident="BUG-43",
    citation="AI-Hypercomputer/maxtext#4476",
    where="keys of another segment",
)
def ignores_the_segments(_: Any) -> Array:
    """Accepts segment ids, but does not use them."""
    return EVERYWHERE


@wrong("same_text", incident="BUG-43", where="keys of another segment and a mask")
def forgets_segments_beside_a_mask(given: Any) -> Array:
    """Ignores segment ids if a mask is given, as if the mask included them."""
    return forgotten(lambda x: x.attn_mask is not None, given)


@wrong("same_text", incident="BUG-43", where="keys of another segment and causal")
def forgets_segments_beside_causality(given: Any) -> Array:
    """Ignores segment ids in causal calls, which take a separate code path."""
    return forgotten(lambda x: x.is_causal, given)


@wrong("same_text", incident="BUG-43", where="keys of another segment and a window")
def forgets_segments_beside_a_window(given: Any) -> Array:
    """Ignores segment ids in calls with a window, which take a separate code path."""
    return forgotten(lambda x: x.window_size != UNBOUNDED, given)


@wrong("same_text", incident="BUG-43", where="keys of another segment and not causal")
def has_segments_where_it_is_causal(given: Any) -> Array:
    """Applies segment ids only in causal calls, as in the training of decoders."""
    return forgotten(lambda x: not x.is_causal, given)


@wrong("same_text", incident="BUG-43", where="keys of another segment and N = 1")
def has_no_segments_for_a_single_query(given: Any) -> Array:
    """Ignores segment ids if there is a single query: the decoding kernel does not read them."""
    return forgotten(lambda x: x.query.shape[2] == 1, given)


@wrong("same_text", incident="BUG-43", where="padding on both sides")
def takes_padding_for_a_text(given: Any) -> Array:
    """Treats padding as one more segment: it compares only ids, and -1 equals -1."""
    return EVERYWHERE if given.query_segments is None else np.equal(*beside(given))


@wrong("same_text", incident="BUG-43", where="padding")
def lets_padding_see_everything(given: Any) -> Array:
    """Lets padding queries attend to every key, instead of masking all keys for them."""
    if given.query_segments is None:
        return EVERYWHERE
    return same_text(given) | (beside(given)[0] < 0)


@wrong("same_text", incident="plausible", where="padding")
def shows_padding_to_everybody(given: Any) -> Array:
    """Masks only keys of other segments, so queries of a segment also attend to padding keys."""
    if given.query_segments is None:
        return EVERYWHERE
    mine, theirs = beside(given)
    return (same_text(given) | (theirs < 0)) & (mine >= 0)


@wrong("same_text", incident="plausible", where="segments")
def takes_zero_for_padding(given: Any) -> Array:
    """Treats segment id 0 as padding, as if ids started at 1; only negative ids are padding."""
    return read(lambda mine, theirs: (np.where(mine == 0, -1, mine), theirs), given)


@wrong("same_text", incident="plausible", where="keys of another segment")
def takes_segments_for_padding(given: Any) -> Array:
    """Uses segment ids only to find padding, and treats all other tokens as one segment."""
    return read(lambda *both: tuple(np.minimum(x, 0) for x in both), given)


@wrong("same_text", incident="plausible", where="keys of another segment")
def sees_earlier_texts_too(given: Any) -> Array:
    """Compares ids with <= instead of =, so a query also attends to segments with smaller ids."""
    if given.query_segments is None:
        return EVERYWHERE
    mine, theirs = beside(given)
    return (theirs <= mine) & (theirs >= 0)


@wrong("same_text", incident="plausible", where="segments and B > 1")
def uses_the_segments_of_the_first_sequence(given: Any) -> Array:
    """Uses the segment ids of the first batch element for the whole batch (batch stride 0)."""
    return read(lambda *both: tuple(np.broadcast_to(x[:1], x.shape) for x in both), given)


@wrong("same_text", incident="plausible", where="segments")
def uses_the_segments_of_queries_for_keys(given: Any) -> Array:
    """Uses the segment ids of the queries for the keys too, as in self-attention."""
    return read(lambda mine, theirs: (mine, np.resize(mine, theirs.shape)), given)


@wrong("same_text", incident="plausible", where="segments")
def uses_the_segments_of_keys_for_queries(given: Any) -> Array:
    """Uses the segment ids of the keys for the queries too: it passes one pointer twice."""
    return read(lambda mine, theirs: (np.resize(theirs, mine.shape), theirs), given)


@wrong("same_text", incident="BUG-43", where="segments and M > 1")
def takes_a_tile_of_keys_for_one_text(given: Any) -> Array:
    """Uses the segment id of the first key in each tile of 16 for all keys of that tile."""
    return read(lambda mine, theirs: (mine, firsts(theirs)), given)


@wrong("same_text", incident="BUG-43", where="segments and N > 1")
def takes_a_tile_of_queries_for_one_text(given: Any) -> Array:
    """Uses the segment id of the first query in each tile of 16 for all queries of that tile."""
    return read(lambda mine, theirs: (firsts(mine), theirs), given)


def firsts(x: Array) -> Array:
    """The segment id of the first token in each tile, for all tokens of that tile."""
    return x[:, np.arange(x.shape[1]) // TILE * TILE]


@wrong("same_text", incident="plausible", where="segments out of order or padding")
def takes_segments_to_be_sorted(given: Any) -> Array:
    """Uses only the number of tokens in each segment, as if ids stood in increasing order."""
    return read(lambda *both: tuple(np.sort(x, axis=1) for x in both), given)


@wrong("same_text", incident="plausible", where="keys of another segment")
def numbers_texts_by_their_starts(given: Any) -> Array:
    """Renumbers segments 0, 1, 2, ... where the id changes, for queries and keys separately."""
    return read(lambda *both: tuple(numbered(x) for x in both), given)


def numbered(x: Array) -> Array:
    """The segment id of each token, renumbered from 0 along a row; padding stays padding."""
    starts = np.diff(x, axis=1, prepend=x[:, :1]) != 0
    return np.where(x < 0, x, np.cumsum(starts, axis=1))


@wrong("same_text", incident="plausible", where="segments 16 apart")
def keeps_segments_in_four_bits(given: Any) -> Array:
    """Stores segment ids in four bits, so ids that are equal modulo 16 count as one segment."""
    return relabelled(lambda x: x & 15, given)


@wrong("same_text", incident="plausible", where="segments 256 apart")
def keeps_segments_in_a_byte(given: Any) -> Array:
    """Stores segment ids in one byte, so ids that are equal modulo 256 count as one segment."""
    return relabelled(lambda x: x & 255, given)


@wrong("call", incident="BUG-43", spoils="forward", where="segments and causal")
def counts_causality_from_the_start_of_a_text(attend: Attend, given: Given) -> Array:
    """Counts positions for causality from the start of each segment, not through the array."""
    if given.query_segments is None or not given.is_causal:
        return attend(given)
    mine, theirs = in_text(given.query_segments, given.key_segments, "top-left")
    past = theirs[:, None, None, :] <= mine[:, None, :, None]
    mask = given.attn_mask
    if mask is not None and mask.dtype != bool:
        past, mask = np.where(past, mask, mask.dtype.type(-np.inf)), None
    return attend(given.but(attn_mask=past if mask is None else past & mask, is_causal=False))


@wrong(
    "place",
    incident="BUG-43",
    convention=("positions", "in-sequence"),
    where="keys of another segment and not positions and (causal or a window or ALiBi slopes)",
)
def starts_every_text_anew(given: Any) -> Placed:
    """Counts all positions from 0 in each segment, not through the array, if none are given."""
    placed = given.query_positions is not None or given.key_positions is not None
    if placed or given.query_segments is None:
        return place(given)
    return in_text(given.query_segments, given.key_segments, "top-left")


@wrong(
    "same_text",
    spoils="gradient",
    incident="BUG-43",
    where="gradients asked for and keys of another segment",
)
def differentiates_without_the_segments(_: Any) -> Array:
    """Recomputes the weights in the backward pass without the segment ids."""
    return EVERYWHERE


@wrong("same_text", spoils="gradient", incident="BUG-43", where="gradients asked for and padding")
def lets_padding_teach_padding(given: Any) -> Array:
    """Compares only ids in the backward pass, so padding queries attend to padding keys there."""
    return EVERYWHERE if given.query_segments is None else np.equal(*beside(given))


@wrong("show", incident="BUG-43", where="the weights asked for and keys of another segment")
def shows_weights_without_the_segments(seen: Pass) -> Array:
    """Returns weights that it recomputes without segment ids, although the output is right."""
    return softmax_with_sink(forbid(seen.s, seen.of_any_text), seen)


@wrong("measure", incident="BUG-43", where="the log-sum-exp asked for and keys of another segment")
def measures_lse_without_the_segments(seen: Pass) -> Array:
    """Returns the log-sum-exp over the keys of all segments, although the output is right."""
    return with_sink(log_sum(forbid(seen.s, seen.of_any_text)), seen)
