"""Known bugs of a paged KV cache: pages, the page table or the lengths are misread.

The table lists the pages of each sequence, and the lengths say how many keys it has. Many of these
bugs have no effect if pages are in order, sequences are equally long, and everything after the
last key is zero. A cache that was just made for a test is like that.
"""

import numpy as np

from spec.attention.mistakes.caching import Cache, length, page, wrong
from spec.notation import Array


@wrong("page", incident="BUG-45")
def takes_pages_to_lie_in_order(cache: Cache, sequence: int, number: Array) -> Array:
    """Reads consecutive pages after the first page of a sequence, and ignores the table."""
    return page(cache, sequence, number[:1]) + number // cache.places


@wrong("page", incident="BUG-45")
def reads_the_table_of_the_first_sequence(cache: Cache, _: int, number: Array) -> Array:
    """Uses the page table of the first sequence for all sequences."""
    return page(cache, 0, number)


@wrong("page", incident="BUG-45")
def reads_the_first_page_again(cache: Cache, sequence: int, number: Array) -> Array:
    """Reads the first page of a sequence in place of all its later pages."""
    return page(cache, sequence, number % cache.places)


@wrong("page_of_value", incident="BUG-45")
def takes_pages_of_values_to_lie_in_order(cache: Cache, sequence: int, number: Array) -> Array:
    """Looks up the pages of keys in the table, but reads values from consecutive pages."""
    return page(cache, sequence, number[:1]) + number // cache.places


@wrong("page", incident="BUG-45", citation="flashinfer-ai/flashinfer#1407")
def takes_the_width_for_the_places(cache: Cache, sequence: int, number: Array) -> Array:
    """Uses the head size instead of the page size to find the page of a key."""
    entries = np.minimum(number // max(cache.width, 1), cache.table.shape[1] - 1)
    return cache.table[sequence, entries]


@wrong("place", incident="BUG-45")
def fills_pages_from_the_end(cache: Cache, number: Array) -> Array:
    """Indexes each page in reverse order, with its first key at the last position."""
    return cache.places - 1 - number % cache.places


@wrong("length", incident="BUG-45", citation="flashinfer-ai/flashinfer#725")
def reads_nothing_of_a_sequence_of_one_page(cache: Cache, sequence: int) -> int:
    """Reads no keys of a sequence that is shorter than one page."""
    keys = length(cache, sequence)
    return 0 if keys < cache.places else keys


@wrong("length", incident="BUG-45")
def takes_a_full_page_for_an_empty_one(cache: Cache, sequence: int) -> int:
    """Skips the last page if it is full, because the length modulo the page size is then 0."""
    keys = length(cache, sequence)
    return max(-(-keys // cache.places) - 1, 0) * cache.places + keys % cache.places


@wrong("length", incident="BUG-45")
def reads_full_pages_alone(cache: Cache, sequence: int) -> int:
    """Reads only full pages, and leaves out the keys on a partly filled last page."""
    return length(cache, sequence) // cache.places * cache.places


@wrong("length", incident="BUG-45")
def reads_one_key_behind_the_last(cache: Cache, sequence: int) -> int:
    """Reads one key too many, at the position after the last key."""
    return length(cache, sequence) + 1


@wrong("length", incident="BUG-45")
def reads_pages_to_their_end(cache: Cache, sequence: int) -> int:
    """Reads the last page to its end, and does not mask the positions after the last key."""
    return -(-length(cache, sequence) // cache.places) * cache.places


@wrong("length", incident="BUG-30")
def has_the_length_of_the_first_sequence(cache: Cache, _: int) -> int:
    """Uses the length of the first sequence for all sequences."""
    return length(cache, 0)


@wrong("length", incident="BUG-30")
def has_the_longest_length_for_all(cache: Cache, _: int) -> int:
    """Reads as many keys of every sequence as the longest sequence has."""
    return int(cache.lengths.max(initial=0)) + cache.new


@wrong("beside", incident="BUG-45", citation="vllm-project/vllm#641")
def multiplies_what_lies_behind_by_zero(rest: Array) -> float:
    """Multiplies values after the last key by a weight of zero: NaN if one is not finite."""
    return 0.0 * float(rest.sum())


@wrong("corner", incident="BUG-03")
def hangs_queries_by_the_room(cache: Cache, _: int, queries: int) -> int:
    """Aligns the last query with the end of all pages in the table instead of with the last key."""
    return cache.room - queries


@wrong("corner", incident="BUG-03")
def hangs_queries_by_the_longest_length(cache: Cache, _: int, queries: int) -> int:
    """Aligns the last query of every sequence with the last key of the longest sequence."""
    return int(cache.lengths.max(initial=0)) + cache.new - queries


@wrong("corner", incident="BUG-03", convention=("causal", "top-left"))
def hangs_queries_at_the_first_key(_: Cache, sequence: int, queries: int) -> int:  # noqa: ARG001
    """Aligns causality top-left: the first query with the first key."""
    return 0


@wrong("order", incident="BUG-40", harmless=True, force="promise")
def adds_pages_by_their_numbers(cache: Cache, sequence: int, number: Array) -> Array:
    """Adds the pages of a sequence in the order in which they lie, and not in that of the table."""
    return number[np.argsort(page(cache, sequence, number), kind="stable")]
