"""Known bugs with the lengths of sequences in a padded batch.

The arrays are (batch, heads, length, head size), and some sequences are shorter than others. Two
arrays give their lengths, of queries and of keys. If every sequence has full length and N = M, all
of these bugs give right results.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec import mistake
from spec.attention.mistakes import flash, making
from spec.attention.mistakes.given import Given
from spec.notation import Array


@dataclass(frozen=True)
class Told:
    """The lengths of queries and keys, (B,) each; N and M are those of the padded arrays."""

    queries: Array
    keys: Array
    N: int
    M: int
    causal: bool


@dataclass(frozen=True)
class Steps:
    """The steps that a known bug can replace.

    of_queries, of_keys: the lengths that are used. laid: which rows of an array hold tokens, from
    the length of each sequence and that of the array.   (B, length), boolean
    """

    of_queries: Callable[[Told], Array] = lambda told: told.queries
    of_keys: Callable[[Told], Array] = lambda told: told.keys
    laid: Callable[[Array, int], Array] = lambda count, length: np.arange(length) < count[:, None]


def attend(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    query_seq_lengths: Array | None = None,
    key_value_seq_lengths: Array | None = None,
    *,
    steps: Steps,
) -> Array:
    """The output, zero for padded queries.   (B, H, N, E)"""
    options: dict[str, Any] = {"attn_mask": attn_mask, "is_causal": is_causal, "scale": scale}
    given = Given(query, key, value, **options, enable_gqa=enable_gqa)
    if query_seq_lengths is None or key_value_seq_lengths is None:
        return making.attend(given)
    N, M = query.shape[2], key.shape[2]
    told = Told(query_seq_lengths, key_value_seq_lengths, N, M, is_causal)
    counts = (steps.of_queries(told), N), (steps.of_keys(told), M)
    mine, theirs = (np.where(steps.laid(*count), 0, -1) for count in counts)
    return making.attend(given.but(query_segments=mine, key_segments=theirs))


def program(steps: Steps) -> Any:
    """Attention with these steps, in the API dialect of `jax.nn` except for the axis order."""
    return flash.program(attend, steps)


def wrong(step: str, **facts: Any) -> mistake.Decorator:
    """Attention with lengths, with one step replaced by the decorated function."""
    return mistake.wrong(Steps(), program, step, spoils="forward", **facts)


@wrong("of_keys", incident="BUG-30", where="keys of another segment and B > 1")
def takes_the_first_length_for_all(told: Told) -> Array:
    """Uses the key length of the first sequence for all sequences."""
    return np.broadcast_to(told.keys[:1], told.keys.shape)


@wrong("of_keys", incident="BUG-30", where="segments")
def takes_the_lengths_of_queries_for_keys(told: Told) -> Array:
    """Uses the query lengths as key lengths, as if all attention were self-attention."""
    return np.minimum(told.queries, told.M)


@wrong("of_queries", incident="BUG-30", where="segments")
def takes_the_lengths_of_keys_for_queries(told: Told) -> Array:
    """Uses the key lengths as query lengths, as if all attention were self-attention."""
    return np.minimum(told.keys, told.N)


@wrong("of_keys", incident="BUG-30", where="keys of another segment")
def sees_the_key_at_its_length(told: Told) -> Array:
    """Attends to one key too many: it compares positions with the length by `<=`, not `<`."""
    return np.minimum(told.keys + 1, told.M)


@wrong("of_queries", incident="BUG-30", where="padding")
def answers_queries_behind_their_length(told: Told) -> Array:
    """Masks padded keys only: padded queries attend to the keys instead of returning zero."""
    return np.full_like(told.queries, told.N)


@wrong("of_keys", incident="BUG-30", where="causal and keys of another segment")
def forgets_lengths_where_it_is_causal(told: Told) -> Array:
    """Ignores the key lengths in causal calls, which take a separate code path."""
    return np.full_like(told.keys, told.M) if told.causal else told.keys


@wrong("laid", incident="BUG-30", where="padding")
def takes_padding_to_come_first(count: Array, length: int) -> Array:
    """Treats the padding as if it came before the tokens (left padding), not after them."""
    return np.arange(length) >= length - count[:, None]
