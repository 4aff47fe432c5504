"""Known bugs in what a token attends to: the past, its chunk, and positions without a token.

Simple tests miss them. A first chunk with all tokens, followed by single ones, does not show the
causal alignment. Sequences of equal length do not show whose length is used. Zeros after the last
key hide nearly everything.
"""

from typing import Any

import numpy as np

from spec.attention.mistakes.exponentials import softmax
from spec.attention.mistakes.steps import weigh
from spec.cache.mistakes.making import wrong
from spec.cache.mistakes.steps import Kept, visible
from spec.notation import Array


@wrong(
    "visible", incident="BUG-03", citation="pytorch/pytorch#110144", where="several steps and N > 1"
)
def puts_the_corner_top_left(kept: Kept, before: Array, n: int) -> Array:
    """Aligns the causal mask of a chunk top-left: its token i attends to keys 0 to i only."""
    return visible(kept, 0 * before, n)


@wrong("visible", incident="BUG-04", where="a chunk of several tokens")
def sees_its_whole_chunk(kept: Kept, before: Array, n: int) -> Array:
    """Lets every token of a chunk attend to the whole chunk, including later tokens."""
    return visible(kept, np.maximum(before, kept.lengths - 1), 1).repeat(n, axis=1)


@wrong(
    "visible",
    incident="BUG-04",
    citation="microsoft/onnxruntime#29020",
    where="a step of fewer queries than keys asked for and a chunk of several tokens",
)
def lets_a_single_query_see_everything(kept: Kept, before: Array, n: int) -> Array:
    """Does not apply the causal mask to a single query, although new keys may lie ahead of it."""
    return visible(kept, kept.lengths - 1 if n == 1 else before, n)


@wrong("visible", incident="BUG-06")
def hides_the_present_token(kept: Kept, before: Array, n: int) -> Array:
    """Masks the key of the token itself: each token attends to earlier tokens only."""
    return visible(kept, before - 1, n)


@wrong("visible", incident="plausible", where="several steps and N > 1")
def sees_only_its_own_chunk(kept: Kept, before: Array, n: int) -> Array:
    """Attends to the keys of the current chunk only, not to the keys read before it."""
    return visible(kept, before, n) & (np.arange(kept.room) >= before[:, None, None])


@wrong(
    "visible",
    incident="BUG-29",
    citation="ggml-org/llama.cpp#26744",
    where="a rollback asked for and M > 1",
)
def sees_what_was_taken_back(kept: Kept, before: Array, n: int) -> Array:
    """Leaves rolled-back tokens visible until new tokens overwrite them."""
    places = np.arange(kept.room)
    stale = (kept.lengths[:, None] <= places) & (places < kept.high[:, None])
    return visible(kept, before, n) | stale[:, None]


@wrong("visible", incident="BUG-30", where="padding and several steps")
def bounds_all_by_the_first_sequence(kept: Kept, before: Array, n: int) -> Array:
    """Uses the length of the first sequence for the causal mask of all sequences."""
    return visible(kept, np.full_like(before, before[0]), n)


@wrong("visible", incident="BUG-30", where="padding and several steps")
def bounds_all_by_the_longest_sequence(kept: Kept, before: Array, n: int) -> Array:
    """Uses the length of the longest sequence for the causal mask of all sequences."""
    return visible(kept, np.full_like(before, before.max()), n)


@wrong("weigh", incident="BUG-29", citation="ggml-org/llama.cpp#26744", where="scores beyond 1000")
def lowers_what_is_hidden_by_ten_thousand(s: Array, seen: Array) -> Array:
    """Adds -1e4 instead of -inf to masked scores, so a large masked score stays visible."""
    return softmax(s + np.where(seen, 0, s.dtype.type(-1e4)))


@wrong("weigh", incident="plausible", where="N > 1")
def leaves_empty_places_a_little(s: Array, seen: Array) -> Array:
    """Raises every weight to at least 2^-20, so masked keys have some weight, too."""
    return np.maximum(weigh(s, seen), s.dtype.type(2.0**-20))


@wrong(
    "combine",
    incident="BUG-33",
    citation="pytorch/pytorch#101967",
    force="should",
    where="a rollback asked for and M > 1",
)
def multiplies_what_is_hidden_by_zero(a: Array, v: Array, _: Array) -> Array:
    """Multiplies masked values by a weight of 0, so NaN in unused memory reaches the output."""
    return a @ v


@wrong("scale", incident="BUG-14", where="N > 1")
def scales_by_the_length_so_far(width: int, lengths: Array) -> Any:
    """Divides the scores by the square root of the number of keys, not of the head size."""
    del width
    return 1 / np.sqrt(max(int(lengths.max()), 1))


@wrong("share", incident="BUG-19", where="grouped heads and G > 1")
def hands_key_heads_round_in_turn(x: Array, heads: int) -> Array:
    """Assigns key heads to query heads in turn (0, 1, 0, 1) instead of in groups (0, 0, 1, 1)."""
    return np.tile(x, (1, heads // x.shape[1], 1, 1))


@wrong("fetch", incident="BUG-31", where="B > 1")
def reads_the_first_sequence_for_all(kept: Kept) -> tuple[Array, Array]:
    """Reads the keys and values of the first sequence for all sequences."""
    return tuple(np.repeat(x[:1], len(x), axis=0) for x in (kept.k, kept.v))  # type: ignore


@wrong("fetch", incident="BUG-19", where="G > 1 and N > 1")
def reads_the_first_head_for_all(kept: Kept) -> tuple[Array, Array]:
    """Reads the keys of the first head for all heads; the values are right."""
    return np.repeat(kept.k[:, :1], kept.k.shape[1], axis=1), kept.v
