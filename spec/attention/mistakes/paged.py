"""A cache misread: its pages, its table, and how far its keys reach.

A function that decodes is told how many keys each sequence has, and in which pages they lie. It is
right for as long as pages lie in order, sequences are equally long, and what is behind the last key
is zero. So is a cache that was just made for a test.
"""

import numpy as np

from spec.attention.mistakes.caching import Cache, length, page, wrong
from spec.notation import Array


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
    return int(cache.lengths.max(initial=0)) + cache.new


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
    return int(cache.lengths.max(initial=0)) + cache.new - queries


@wrong("corner", incident="I03", convention=("causal", "top-left"))
def hangs_queries_at_the_first_key(_: Cache, sequence: int, queries: int) -> int:  # noqa: ARG001
    """Has the first query stand at the first key."""
    return 0
