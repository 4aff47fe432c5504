"""What a token sees of the past, of its own chunk, and of what does not count.

A first chunk that holds everything, and single tokens after it, hide the corner; sequences
of one length hide whose length it is; and zeros behind the end hide nearly everything.
"""

from typing import Any

import numpy as np

from spec.attention.mistakes.exponentials import softmax
from spec.attention.mistakes.steps import weigh
from spec.cache.mistakes.making import wrong
from spec.cache.mistakes.steps import Kept, visible
from spec.notation import Array


@wrong(
    "visible", incident="I03", citation="pytorch/pytorch#110144", where="several steps and N > 1"
)
def puts_the_corner_top_left(kept: Kept, before: Array, n: int) -> Array:
    """Bounds token i of a chunk by key i, as where nothing was read before."""
    return visible(kept, 0 * before, n)


@wrong("visible", incident="I04", where="a chunk of several tokens")
def sees_its_whole_chunk(kept: Kept, before: Array, n: int) -> Array:
    """Bounds every token of a chunk by the new length, which is right for single tokens."""
    return visible(kept, np.maximum(before, kept.lengths - 1), 1).repeat(n, axis=1)


@wrong(
    "visible",
    incident="I04",
    citation="microsoft/onnxruntime#29020",
    where="a step of fewer queries than keys asked for and a chunk of several tokens",
)
def lets_a_single_query_see_everything(kept: Kept, before: Array, n: int) -> Array:
    """Leaves causality out for a single query, as if no key could lie ahead of it."""
    return visible(kept, kept.lengths - 1 if n == 1 else before, n)


@wrong("visible", incident="I06")
def hides_the_present_token(kept: Kept, before: Array, n: int) -> Array:
    """Bounds by the length before the token was read: it sees the past, and not itself."""
    return visible(kept, before - 1, n)


@wrong("visible", incident="plausible", where="several steps and N > 1")
def sees_only_its_own_chunk(kept: Kept, before: Array, n: int) -> Array:
    """Attends within the chunk, and forgets to put the past in front."""
    return visible(kept, before, n) & (np.arange(kept.room) >= before[:, None, None])


@wrong(
    "visible",
    incident="I29",
    citation="ggml-org/llama.cpp#26744",
    where="a rollback asked for and M > 1",
)
def sees_what_was_taken_back(kept: Kept, before: Array, n: int) -> Array:
    """Hides what was never written, and not what was written and taken back."""
    places = np.arange(kept.room)
    stale = (kept.lengths[:, None] <= places) & (places < kept.high[:, None])
    return visible(kept, before, n) | stale[:, None]


@wrong("visible", incident="I30", where="padding and several steps")
def bounds_all_by_the_first_sequence(kept: Kept, before: Array, n: int) -> Array:
    """Takes the length of sequence 0 for that of all."""
    return visible(kept, np.full_like(before, before[0]), n)


@wrong("visible", incident="I30", where="padding and several steps")
def bounds_all_by_the_longest_sequence(kept: Kept, before: Array, n: int) -> Array:
    """Takes the largest length for that of all."""
    return visible(kept, np.full_like(before, before.max()), n)


@wrong("weigh", incident="I29", citation="ggml-org/llama.cpp#26744", where="scores beyond 1000")
def lowers_what_is_hidden_by_ten_thousand(s: Array, seen: Array) -> Array:
    """Adds -1e4 where nothing is to be seen, so that a large score behind the end sees through."""
    return softmax(s + np.where(seen, 0, s.dtype.type(-1e4)))


@wrong("weigh", incident="plausible", where="N > 1")
def leaves_empty_places_a_little(s: Array, seen: Array) -> Array:
    """Clips the exponential from below, so that no place has a weight of zero."""
    return np.maximum(weigh(s, seen), s.dtype.type(2.0**-20))


@wrong(
    "combine",
    incident="I33",
    citation="pytorch/pytorch#101967",
    force="should",
    where="a rollback asked for and M > 1",
)
def multiplies_what_is_hidden_by_zero(a: Array, v: Array, _: Array) -> Array:
    """Multiplies all values by their weights, and 0 * NaN is NaN."""
    return a @ v


@wrong("scale", incident="I14", where="N > 1")
def scales_by_the_length_so_far(width: int, lengths: Array) -> Any:
    """Divides by the square root of the wrong axis of the keys, their number."""
    del width
    return 1 / np.sqrt(max(int(lengths.max()), 1))


@wrong("share", incident="I19", where="grouped heads and G > 1")
def hands_key_heads_round_in_turn(x: Array, heads: int) -> Array:
    """Tiles the key heads where each was to be repeated."""
    return np.tile(x, (1, heads // x.shape[1], 1, 1))


@wrong("fetch", incident="I31", where="B > 1")
def reads_the_first_sequence_for_all(kept: Kept) -> tuple[Array, Array]:
    """Looks up the places of sequence 0, whichever sequence asks."""
    return tuple(np.repeat(x[:1], len(x), axis=0) for x in (kept.k, kept.v))  # type: ignore


@wrong("fetch", incident="I19", where="G > 1 and N > 1")
def reads_the_first_head_for_all(kept: Kept) -> tuple[Array, Array]:
    """Looks up the keys of head 0, whichever head asks."""
    return np.repeat(kept.k[:, :1], kept.k.shape[1], axis=1), kept.v
