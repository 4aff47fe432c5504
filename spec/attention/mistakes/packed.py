"""Known bugs of packed sequences: the start or the end of a sequence is misread.

A packed function receives arrays (tokens, heads, head size) and the cumulative lengths of the
sequences, for queries and for keys. Many of these bugs have no effect if all sequences have one
length, as many queries as keys, and at least one token. Most test inputs are like that.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spec import mistake
from spec.attention.mistakes import flash
from spec.attention.mistakes.flash import NO_BOUND, attended, said
from spec.notation import Array


@dataclass(frozen=True)
class Texts:
    """Start and end of each sequence among the queries, and among the keys.   (sequences,) each

    heads: the number of query heads per key head. keys: the total number, padding tokens included.
    """

    heads: int
    keys: int
    first: Array
    last: Array
    first_key: Array
    last_key: Array

    @property
    def lengths(self) -> Array:
        """The number of queries of each sequence."""
        return self.last - self.first

    @property
    def key_lengths(self) -> Array:
        """The number of keys of each sequence."""
        return self.last_key - self.first_key


@dataclass(frozen=True)
class Steps:
    """The steps that a known bug can replace.

    read: the start and end of each sequence. corner: the shift of the queries of each sequence, in
    positions. place: the positions of tokens, given where their sequence starts. blank: the output
    before anything is written.
    """

    read: Callable[[Texts], Texts] = lambda texts: texts
    corner: Callable[[Texts], Array] = lambda texts: texts.key_lengths - texts.lengths
    place: Callable[[Array, int], Array] = lambda rows, first: rows - first
    blank: Callable[[tuple[int, ...]], Array] = np.zeros


def attend(
    q: Array,
    k: Array,
    v: Array,
    cu_seqlens_q: Array,
    cu_seqlens_k: Array,
    max_seqlen_q: int,  # noqa: ARG001 - part of the API
    max_seqlen_k: int,  # noqa: ARG001
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = NO_BOUND,
    softcap: float = 0.0,
    alibi_slopes: Array | None = None,
    sinks: Array | None = None,
    *,
    steps: Steps,
) -> Array:
    """The output, computed sequence by sequence.   (queries, H, E)"""
    edges = (x for starts in (cu_seqlens_q, cu_seqlens_k) for x in (starts[:-1], starts[1:]))
    texts = steps.read(Texts(q.shape[1] // max(k.shape[1], 1), len(k), *edges))
    moved, o = steps.corner(texts), steps.blank((*q.shape[:2], v.shape[2])).astype(q.dtype)
    options = said(softmax_scale, causal, window_size, softcap, alibi_slopes, sinks)
    for t, (first, first_key) in enumerate(zip(texts.first, texts.first_key, strict=True)):
        rows = np.arange(first, min(texts.last[t], len(q)))
        keys = np.arange(min(first_key, len(k)), min(texts.last_key[t], len(k)))
        places = steps.place(rows, first) + moved[t], steps.place(keys, first_key)
        o[rows] = attended(q[rows], k[keys], v[keys], *places, options)
    return o


def program(steps: Steps) -> Any:
    """Packed attention with these steps, in flash-attn's API dialect."""
    return flash.program(attend, steps)


def wrong(step: str, **facts: Any) -> mistake.Decorator:
    """Packed attention with one step replaced by the decorated function."""
    return mistake.wrong(Steps(), program, step, spoils="forward", **facts)


@wrong("read", incident="BUG-43")
def takes_the_texts_of_queries_for_keys(texts: Texts) -> Texts:
    """Uses the cumulative lengths of the queries for the keys as well, as in self-attention."""
    return replace(texts, first_key=texts.first, last_key=texts.last)


@wrong("read", incident="BUG-43")
def reads_into_the_next_text(texts: Texts) -> Texts:
    """Reads one key too many for each sequence: the first key of the next sequence."""
    return replace(texts, last_key=texts.last_key + 1)


@wrong("read", incident="BUG-43")
def loses_the_last_key_of_each_text(texts: Texts) -> Texts:
    """Leaves out the last key of each sequence: subtracts 1 from an end that is exclusive."""
    return replace(texts, last_key=np.maximum(texts.last_key - 1, texts.first_key))


@wrong("read", incident="BUG-43")
def loses_the_last_text(texts: Texts) -> Texts:
    """Leaves out the last sequence: the loop ends one sequence too early."""
    return Texts(texts.heads, texts.keys, *(x[:-1] for x in _edges(texts)))


@wrong("read", incident="BUG-43")
def has_the_length_of_the_first_text_for_all(texts: Texts) -> Texts:
    """Reads no more keys of any sequence than the first sequence has."""
    most = texts.key_lengths[:1].sum()
    return replace(texts, last_key=np.minimum(texts.last_key, texts.first_key + most))


@wrong("read", incident="BUG-43")
def reads_to_the_end_of_the_array(texts: Texts) -> Texts:
    """Extends the last sequence to the end of the array, over the padding tokens."""
    last = texts.last_key.copy()
    last[-1:] = texts.keys
    return replace(texts, last_key=last)


@wrong("read", incident="BUG-43")
def takes_texts_to_be_of_one_length(texts: Texts) -> Texts:
    """Divides the tokens equally among the sequences, and ignores their lengths."""
    count = max(len(texts.first), 1)
    starts = [np.arange(count + 1) * (x.max(initial=0) // count) for x in _edges(texts)[1::2]]
    return Texts(texts.heads, texts.keys, *(x for own in starts for x in (own[:-1], own[1:])))


@wrong("read", incident="BUG-43")
def takes_no_keys_for_all_keys(texts: Texts) -> Texts:
    """Lets the queries of a sequence without keys attend to the keys of all sequences."""
    none, end = texts.key_lengths == 0, texts.last_key.max(initial=0)
    first, last = np.where(none, 0, texts.first_key), np.where(none, end, texts.last_key)
    return replace(texts, first_key=first, last_key=last)


@wrong("read", incident="BUG-43")
def steps_over_texts_of_one_query(texts: Texts) -> Texts:
    """Skips sequences with a single query, as if they were padding."""
    return replace(texts, last=np.where(texts.lengths == 1, texts.first, texts.last))


@wrong("read", incident="BUG-43", citation="jax-ml/jax#39521")
def finds_keys_by_the_heads_of_queries(texts: Texts) -> Texts:
    """Multiplies the key offset of each sequence by H / G, the query heads per key head."""
    first = texts.first_key * texts.heads
    return replace(texts, first_key=first, last_key=first + texts.key_lengths)


@wrong("corner", incident="BUG-03", convention=("causal", "top-left"))
def hangs_texts_at_their_first_keys(texts: Texts) -> Array:
    """Aligns causality top-left: the first query of a sequence with its first key."""
    return np.zeros_like(texts.lengths)


@wrong("corner", incident="BUG-03")
def hangs_texts_by_the_longest(texts: Texts) -> Array:
    """Shifts the queries of every sequence by M - N of the longest lengths in the batch."""
    moved = texts.key_lengths.max(initial=0) - texts.lengths.max(initial=0)
    return np.full_like(texts.lengths, moved)


@wrong("place", incident="BUG-43")
def counts_places_through_the_array(rows: Array, _: int) -> Array:
    """Counts positions through the whole array instead of from the start of each sequence."""
    return rows


def _edges(texts: Texts) -> tuple[Array, Array, Array, Array]:
    return texts.first, texts.last, texts.first_key, texts.last_key


@wrong("blank", incident="BUG-43", convention=("padding-rows", "untouched"))
def leaves_what_was_there_where_no_text_is(shape: tuple[int, ...]) -> Array:
    """Leaves the output rows of padding tokens uninitialised (here 7) instead of zero."""
    return np.full(shape, 7.0)
