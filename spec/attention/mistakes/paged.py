"""A cache misread: its pages, its table, and how far its keys reach.

A function that decodes is told how many keys each sequence has, and in which pages they lie. It is
right for as long as pages lie in order, sequences are equally long, and what is behind the last key
is zero. So is a cache that was just made for a test.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec import mistake
from spec.attention.mistakes import making
from spec.attention.mistakes.making import Given
from spec.attention.mistakes.packed import NO_BOUND
from spec.notation import Array


@dataclass(frozen=True)
class Cache:
    """What is known of where keys lie: as many sequences as there are lengths.

    pages, places: how many there are, of one; width: of a key. table: the pages of each sequence.
    """

    pages: int
    places: int
    width: int
    lengths: Array
    table: Array

    @property
    def room(self) -> int:
        """How many keys a sequence may have."""
        return self.places * self.table.shape[1]


def length(cache: Cache, sequence: int) -> int:
    """How many keys a sequence has."""
    return int(cache.lengths[sequence])


def page(cache: Cache, sequence: int, number: Array) -> Array:
    """The page of each key."""
    return cache.table[sequence, number // cache.places]


def place(cache: Cache, number: Array) -> Array:
    """Its place there."""
    return number % cache.places


def corner(cache: Cache, sequence: int, queries: int) -> int:
    """The place of the first query, so that the last one stands at the last key."""
    return int(cache.lengths[sequence]) - queries


def beside(rest: Array) -> float:  # noqa: ARG001
    """What the values behind the last key, on its page, add to an output.   (rest, G, E)"""
    return 0.0


@dataclass(frozen=True)
class Steps:
    """What there is to do wrong. page_of_value: where that is another than the page of the key."""

    length: Callable[[Cache, int], int] = length
    page: Callable[[Cache, int, Array], Array] = page
    place: Callable[[Cache, Array], Array] = place
    page_of_value: Callable[[Cache, int, Array], Array] | None = None
    corner: Callable[[Cache, int, int], int] = corner
    beside: Callable[[Array], float] = beside


def attend(
    q: Array,
    k_cache: Array,
    v_cache: Array,
    cache_seqlens: Array,
    block_table: Array | None = None,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = NO_BOUND,
    softcap: float = 0.0,
    alibi_slopes: Array | None = None,
    sinks: Array | None = None,
    *,
    steps: Steps,
) -> Array:
    """The output, sequence by sequence.   (B, N, H, E)"""
    table = np.arange(len(q))[:, None] if block_table is None else block_table
    pages, places, _, width = k_cache.shape
    cache = Cache(pages, places, width, cache_seqlens, table)
    left, right = (None if bound < 0 else bound for bound in window_size)
    said: dict[str, Any] = {"scale": softmax_scale, "is_causal": causal}
    said |= {"window_size": (left, right), "softcap": softcap or None}
    said |= {"alibi_slopes": alibi_slopes, "sinks": sinks}
    o = np.zeros((*q.shape[:3], v_cache.shape[3]), q.dtype)
    for b in range(len(q)):
        keys = min(max(steps.length(cache, b), 0), cache.room)
        k, v = read(k_cache, cache, b, keys, steps), read(v_cache, cache, b, keys, steps, True)
        first = steps.corner(cache, b, q.shape[1])
        p, r = np.arange(q.shape[1]) + first, np.arange(keys)
        arrays = [x.swapaxes(0, 1)[None] for x in (q[b], k, v)]
        given = Given(*arrays, **said, query_positions=p[None], key_positions=r[None])
        o[b] = making.attend(given)[0].swapaxes(0, 1)
        if keys % cache.places and cache.pages:
            rest = v_cache[table[b, keys // cache.places], keys % cache.places :]
            o[b] += steps.beside(rest)
    return o


def read(
    pages: Array, cache: Cache, sequence: int, keys: int, steps: Steps, of_values: bool = False
) -> Array:
    """Keys or values of a sequence.   (keys, G, D) or (keys, G, E)"""
    find = (steps.page_of_value if of_values else None) or steps.page
    number = np.arange(keys)
    return pages[find(cache, sequence, number) % max(cache.pages, 1), steps.place(cache, number)]


def program(steps: Steps) -> Any:
    """Attention over a cache with these steps, in flash-attn's spelling."""

    def paged(*arrays: Any, **options: Any) -> Array:
        return attend(*arrays, **options, steps=steps)

    known = inspect.signature(attend)
    spelled = [p for name, p in known.parameters.items() if name != "steps"]
    paged.__signature__ = known.replace(parameters=spelled)  # type: ignore[attr-defined]
    return paged


def wrong(step: str, **facts: Any) -> mistake.Decorator:
    """Attention over a cache with one step replaced by the decorated function."""
    return mistake.wrong(Steps(), program, step, spoils="forward", **facts)


@wrong("page", incident="I45")
def takes_pages_to_lie_in_order(cache: Cache, sequence: int, number: Array) -> Array:
    """Reads on behind the first page of a sequence."""
    return page(cache, sequence, number[:1]) + number // cache.places


@wrong("page", incident="I45")
def reads_the_table_of_the_first_sequence(cache: Cache, _: int, number: Array) -> Array:
    """Has one table for a batch."""
    return page(cache, 0, number)


@wrong("page", incident="I45")
def reads_the_first_page_again(cache: Cache, sequence: int, number: Array) -> Array:
    """Does not go on to the next entry of the table."""
    return page(cache, sequence, number % cache.places)


@wrong("page_of_value", incident="I45")
def takes_pages_of_values_to_lie_in_order(cache: Cache, sequence: int, number: Array) -> Array:
    """Looks the pages of keys up, and reads values on behind the first."""
    return page(cache, sequence, number[:1]) + number // cache.places


@wrong("page", incident="I45", citation="flashinfer-ai/flashinfer#1407")
def takes_the_width_for_the_places(cache: Cache, sequence: int, number: Array) -> Array:
    """Reads how many places a page has from another axis."""
    entries = np.minimum(number // max(cache.width, 1), cache.table.shape[1] - 1)
    return cache.table[sequence, entries]


@wrong("place", incident="I45")
def fills_pages_from_the_end(cache: Cache, number: Array) -> Array:
    """Has the first key of a page at its last place."""
    return cache.places - 1 - number % cache.places


@wrong("length", incident="I45", citation="flashinfer-ai/flashinfer#725")
def reads_nothing_of_a_sequence_of_one_page(cache: Cache, sequence: int) -> int:
    """Rounds the number of pages down where there is one that is not full."""
    keys = length(cache, sequence)
    return 0 if keys < cache.places else keys


@wrong("length", incident="I45")
def takes_a_full_page_for_an_empty_one(cache: Cache, sequence: int) -> int:
    """Has the keys on the last page for the remainder, which is zero where it is full."""
    keys = length(cache, sequence)
    return max(-(-keys // cache.places) - 1, 0) * cache.places + keys % cache.places


@wrong("length", incident="I45")
def reads_full_pages_alone(cache: Cache, sequence: int) -> int:
    """Divides the length by the places of a page, and loses the remainder."""
    return length(cache, sequence) // cache.places * cache.places


@wrong("length", incident="I45")
def reads_one_key_behind_the_last(cache: Cache, sequence: int) -> int:
    """Takes the length for the number of the last key."""
    return length(cache, sequence) + 1


@wrong("length", incident="I45")
def reads_pages_to_their_end(cache: Cache, sequence: int) -> int:
    """Has no mask for the page that is not full."""
    return -(-length(cache, sequence) // cache.places) * cache.places


@wrong("length", incident="I30")
def has_the_length_of_the_first_sequence(cache: Cache, _: int) -> int:
    """Reads the first of the lengths for all."""
    return length(cache, 0)


@wrong("length", incident="I30")
def has_the_longest_length_for_all(cache: Cache, _: int) -> int:
    """Reads as many keys of every sequence as the longest one has."""
    return int(cache.lengths.max(initial=0))


@wrong("beside", incident="I45", citation="vllm-project/vllm#641")
def multiplies_what_lies_behind_by_zero(rest: Array) -> float:
    """Gives what stands behind the last key no weight, and multiplies it by that."""
    return 0.0 * float(rest.sum())


@wrong("corner", incident="I03")
def hangs_queries_by_the_room(cache: Cache, _: int, queries: int) -> int:
    """Has the last query stand at the end of the pages, and not at the last key."""
    return cache.room - queries


@wrong("corner", incident="I03")
def hangs_queries_by_the_longest_length(cache: Cache, _: int, queries: int) -> int:
    """Has one corner for a batch."""
    return int(cache.lengths.max(initial=0)) - queries


@wrong("corner", incident="I03", convention=("causal", "top-left"))
def hangs_queries_at_the_first_key(_: Cache, sequence: int, queries: int) -> int:  # noqa: ARG001
    """Has the first query stand at the first key."""
    return 0
