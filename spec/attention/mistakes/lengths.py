"""How long each sequence of a batch is, and padding behind it, misread.

A function has arrays (batch, heads, length, width) in which some sequences are shorter than others,
and is told so by two arrays of lengths, of queries and of keys. All of these are right in a batch
of sequences that fill it.
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
    """The lengths of queries and of keys, (B,) each, and of the arrays that they lie in."""

    queries: Array
    keys: Array
    N: int
    M: int
    causal: bool


@dataclass(frozen=True)
class Steps:
    """What there is to do wrong.

    of_queries, of_keys: the lengths that count. laid: where the tokens of so many lie in an array
    of another length.   (B, length) of truth values
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
    """The output; zero behind a length.   (B, H, N, E)"""
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
    """Attention with these steps, in the spelling of `jax.nn` but for its layout."""
    return flash.program(attend, steps)


def wrong(step: str, **facts: Any) -> mistake.Decorator:
    """Attention that is told lengths, with one step replaced by the decorated function."""
    return mistake.wrong(Steps(), program, step, spoils="forward", **facts)


@wrong("of_keys", incident="I30", where="texts apart and B > 1")
def takes_the_first_length_for_all(told: Told) -> Array:
    """Reads the number of keys of the first sequence, as where all are alike."""
    return np.broadcast_to(told.keys[:1], told.keys.shape)


@wrong("of_keys", incident="I30", where="segments")
def takes_the_lengths_of_queries_for_keys(told: Told) -> Array:
    """Has one array of lengths, as in self-attention."""
    return np.minimum(told.queries, told.M)


@wrong("of_queries", incident="I30", where="segments")
def takes_the_lengths_of_keys_for_queries(told: Told) -> Array:
    """Has one array of lengths, and it is the other one."""
    return np.minimum(told.keys, told.N)


@wrong("of_keys", incident="I30", where="texts apart")
def sees_the_key_at_its_length(told: Told) -> Array:
    """Compares places with a length by <=."""
    return np.minimum(told.keys + 1, told.M)


@wrong("of_queries", incident="I30", where="padding")
def answers_queries_behind_their_length(told: Told) -> Array:
    """Hides the keys behind a length, and returns what padding sees of the others."""
    return np.full_like(told.queries, told.N)


@wrong("of_keys", incident="I30", where="causal and texts apart")
def forgets_lengths_where_it_is_causal(told: Told) -> Array:
    """Has another path for causality, which no length reaches."""
    return np.full_like(told.keys, told.M) if told.causal else told.keys


@wrong("laid", incident="I30", where="padding")
def takes_padding_to_come_first(count: Array, length: int) -> Array:
    """Counts lengths from the end, as a batch is padded that is to be generated from."""
    return np.arange(length) >= length - count[:, None]
