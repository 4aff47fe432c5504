"""Texts in one array, and who looks over the boundary between two of them.

Packed into one sequence, texts are told apart by a number for each token. Where it is lost, is read
as something else, or means nothing to one of the two sides, the next text is read as if it were the
same one; and since every text is language, the loss still falls.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from spec.attention.mistakes.exponentials import forbid, log_sum, softmax_with_sink, with_sink
from spec.attention.mistakes.given import Given
from spec.attention.mistakes.making import Attend, wrong
from spec.attention.mistakes.placing import Placed, place
from spec.attention.mistakes.steps import Pass
from spec.attention.mistakes.texts import EVERYWHERE, beside, same_text
from spec.attention.mistakes.tiles import TILE
from spec.attention.notation import UNBOUNDED
from spec.attention.places import in_text
from spec.notation import Array

Pair = tuple[Array, Array]


def forgotten(where: Callable[[Any], bool], given: Any) -> Array:
    """The step without segments where they are forgotten, and with them elsewhere."""
    return EVERYWHERE if where(given) else same_text(given)


def read(of: Callable[[Array, Array], Pair], given: Any) -> Array:
    """The step with other segments (B, N) and (B, M) in the place of those that are given."""
    if given.query_segments is None:
        return EVERYWHERE
    mine, theirs = of(given.query_segments, given.key_segments)
    return same_text(given.but(query_segments=mine, key_segments=theirs))


def relabelled(label: Callable[[Array], Array], given: Any) -> Array:
    """The step with other labels of the texts, in which padding is what it was."""
    return read(lambda *both: tuple(np.where(x < 0, x, label(x)) for x in both), given)


@wrong("same_text", incident="I43", citation="AI-Hypercomputer/maxtext#4476", where="texts apart")
def ignores_the_segments(_: Any) -> Array:
    """Takes segments, and hands them on to nobody."""
    return EVERYWHERE


@wrong("same_text", incident="I43", where="texts apart and a mask")
def forgets_segments_beside_a_mask(given: Any) -> Array:
    """Takes a mask that is given to be the whole of what is hidden."""
    return forgotten(lambda x: x.attn_mask is not None, given)


@wrong("same_text", incident="I43", where="texts apart and causal")
def forgets_segments_beside_causality(given: Any) -> Array:
    """Has a causal path of its own, which knows one text."""
    return forgotten(lambda x: x.is_causal, given)


@wrong("same_text", incident="I43", where="texts apart and a window")
def forgets_segments_beside_a_window(given: Any) -> Array:
    """Visits the tiles of a window, and asks nothing more of them."""
    return forgotten(lambda x: x.window_size != UNBOUNDED, given)


@wrong("same_text", incident="I43", where="texts apart and not causal")
def has_segments_where_it_is_causal(given: Any) -> Array:
    """Reads segments where decoders are trained, and so only beside causality."""
    return forgotten(lambda x: not x.is_causal, given)


@wrong("same_text", incident="I43", where="texts apart and N = 1")
def has_no_segments_for_a_single_query(given: Any) -> Array:
    """Decodes with a kernel for one query, which reads one text."""
    return forgotten(lambda x: x.query.shape[2] == 1, given)


@wrong("same_text", incident="I43", where="padding on both sides")
def takes_padding_for_a_text(given: Any) -> Array:
    """Compares numbers alone, and -1 is -1."""
    return EVERYWHERE if given.query_segments is None else np.equal(*beside(given))


@wrong("same_text", incident="I43", where="padding")
def lets_padding_see_everything(given: Any) -> Array:
    """Has a padded query see all keys, so that no row is empty."""
    if given.query_segments is None:
        return EVERYWHERE
    return same_text(given) | (beside(given)[0] < 0)


@wrong("same_text", incident="plausible", where="padding")
def shows_padding_to_everybody(given: Any) -> Array:
    """Asks whether two tokens are of two texts, and padding is of none."""
    if given.query_segments is None:
        return EVERYWHERE
    mine, theirs = beside(given)
    return (same_text(given) | (theirs < 0)) & (mine >= 0)


@wrong("same_text", incident="plausible", where="segments")
def takes_zero_for_padding(given: Any) -> Array:
    """Counts texts from 1, as in trainings where 0 is padding."""
    return read(lambda mine, theirs: (np.where(mine == 0, -1, mine), theirs), given)


@wrong("same_text", incident="plausible", where="texts apart")
def takes_segments_for_padding(given: Any) -> Array:
    """Reads a number of a text as whether there is a token at all."""
    return read(lambda *both: tuple(np.minimum(x, 0) for x in both), given)


@wrong("same_text", incident="plausible", where="texts apart")
def sees_earlier_texts_too(given: Any) -> Array:
    """Writes <= where it should be =, as it is for places."""
    if given.query_segments is None:
        return EVERYWHERE
    mine, theirs = beside(given)
    return (theirs <= mine) & (theirs >= 0)


@wrong("same_text", incident="plausible", where="segments and B > 1")
def uses_the_segments_of_the_first_sequence(given: Any) -> Array:
    """Has a stride of zero between the segments of two sequences."""
    return read(lambda *both: tuple(np.broadcast_to(x[:1], x.shape) for x in both), given)


@wrong("same_text", incident="plausible", where="segments")
def uses_the_segments_of_queries_for_keys(given: Any) -> Array:
    """Has one array, as in self-attention."""
    return read(lambda mine, theirs: (mine, np.resize(mine, theirs.shape)), given)


@wrong("same_text", incident="plausible", where="segments")
def uses_the_segments_of_keys_for_queries(given: Any) -> Array:
    """Hands the same pointer over twice, the second one."""
    return read(lambda mine, theirs: (np.resize(theirs, mine.shape), theirs), given)


@wrong("same_text", incident="I43", where="segments and M > 1")
def takes_a_tile_of_keys_for_one_text(given: Any) -> Array:
    """Skips or reads tiles by their first key, and looks at no other."""
    return read(lambda mine, theirs: (mine, firsts(theirs)), given)


@wrong("same_text", incident="I43", where="segments and N > 1")
def takes_a_tile_of_queries_for_one_text(given: Any) -> Array:
    """Loads one segment for each tile of queries."""
    return read(lambda mine, theirs: (firsts(mine), theirs), given)


def firsts(x: Array) -> Array:
    """Of each tile of tokens the segment of its first one, for all."""
    return x[:, np.arange(x.shape[1]) // TILE * TILE]


@wrong("same_text", incident="plausible", where="texts out of order or padding")
def takes_segments_to_be_sorted(given: Any) -> Array:
    """Counts the tokens of each text, and lays texts one behind the other by their lengths."""
    return read(lambda *both: tuple(np.sort(x, axis=1) for x in both), given)


@wrong("same_text", incident="plausible", where="texts apart")
def numbers_texts_by_their_starts(given: Any) -> Array:
    """Makes cumulative lengths of where numbers change, and pairs the first texts, and so on."""
    return read(lambda *both: tuple(numbered(x) for x in both), given)


def numbered(x: Array) -> Array:
    """The number of each token's text, counted from 0 along a row; padding stays."""
    starts = np.diff(x, axis=1, prepend=x[:, :1]) != 0
    return np.where(x < 0, x, np.cumsum(starts, axis=1))


@wrong("same_text", incident="plausible", where="texts 16 apart")
def keeps_segments_in_four_bits(given: Any) -> Array:
    """Packs a number into bits that are left in another one."""
    return relabelled(lambda x: x & 15, given)


@wrong("same_text", incident="plausible", where="texts 256 apart")
def keeps_segments_in_a_byte(given: Any) -> Array:
    """Has a byte for each token, and no more than 256 texts in mind."""
    return relabelled(lambda x: x & 255, given)


@wrong("call", incident="I43", spoils="forward", where="segments and causal")
def counts_causality_from_the_start_of_a_text(attend: Attend, given: Given) -> Array:
    """Counts places anew in each text, of its queries and of its keys."""
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
    incident="I43",
    convention=("places", "in-text"),
    where="texts apart and not positions and (causal or a window or slopes)",
)
def starts_every_text_anew(given: Any) -> Placed:
    """Counts places in each text from 0, whatever goes by them."""
    placed = given.query_positions is not None or given.key_positions is not None
    if placed or given.query_segments is None:
        return place(given)
    return in_text(given.query_segments, given.key_segments, "top-left")


@wrong("same_text", spoils="gradient", incident="I43", where="gradients asked for and texts apart")
def differentiates_without_the_segments(_: Any) -> Array:
    """Computes the weights again in the backward pass, and there of all texts."""
    return EVERYWHERE


@wrong("same_text", spoils="gradient", incident="I43", where="gradients asked for and padding")
def lets_padding_teach_padding(given: Any) -> Array:
    """Compares numbers alone in the backward pass, where padded rows have a gradient too."""
    return EVERYWHERE if given.query_segments is None else np.equal(*beside(given))


@wrong("show", incident="I43", where="the weights asked for and texts apart")
def shows_weights_without_the_segments(seen: Pass) -> Array:
    """Computes the weights a second time for display, and there of all texts."""
    return softmax_with_sink(forbid(seen.s, seen.of_any_text), seen)


@wrong("measure", incident="I43", where="the log-sum-exp asked for and texts apart")
def measures_lse_without_the_segments(seen: Pass) -> Array:
    """Sums the exponentials of all keys, before those of other texts are hidden."""
    return with_sink(log_sum(forbid(seen.s, seen.of_any_text)), seen)
