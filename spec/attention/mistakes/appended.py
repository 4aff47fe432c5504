"""Known bugs in writing new keys to a cache, and in reading them back.

The next step reads the keys that a step writes, so a test of one step finds few of these bugs.
A cache that is filled with zeros hides zeros that are written after the last key.
"""

import numpy as np

from spec.attention.mistakes.caching import Cache, behind, length, page, wrong
from spec.notation import Array


@wrong("length", incident="BUG-45")
def does_not_see_what_it_adds(cache: Cache, sequence: int) -> int:
    """Attends only to the keys that were cached before the call, not to the new ones."""
    return length(cache, sequence) - cache.new


@wrong("behind", incident="BUG-45")
def adds_one_place_behind(cache: Cache, sequence: int) -> Array:
    """Writes new keys one position too late, as if the length were the position of the last key."""
    return behind(cache, sequence) + 1


@wrong("behind", incident="BUG-45")
def adds_over_the_last_key(cache: Cache, sequence: int) -> Array:
    """Writes new keys one position too early, so the first one overwrites the last cached key."""
    return behind(cache, sequence) - 1


@wrong("behind", incident="BUG-45")
def takes_the_length_for_that_after(cache: Cache, sequence: int) -> Array:
    """Writes new keys over the last cached ones: it treats the old length as the new length."""
    return behind(cache, sequence) - cache.new


@wrong("behind", incident="BUG-30")
def adds_where_the_first_sequence_ends(cache: Cache, _: int) -> Array:
    """Writes new keys of every sequence at the position where the first sequence ends."""
    return behind(cache, 0)


@wrong("page_of_new", incident="BUG-45", citation="Dao-AILab/flash-attention#772")
def adds_to_the_first_sequence(cache: Cache, _: int, number: Array) -> Array:
    """Writes new keys of every sequence into the pages of the first sequence."""
    return page(cache, 0, number)


@wrong("page_of_new", incident="BUG-45")
def adds_to_the_page_of_the_first_new_key(cache: Cache, sequence: int, number: Array) -> Array:
    """Writes all new keys to the page of the first new key, where they wrap around at its end."""
    return np.full_like(number, page(cache, sequence, number[:1]).sum())


@wrong("added", incident="BUG-45")
def adds_the_first_of_several_to_all_places(new: Array) -> Array:
    """Writes the first new key at the positions of all new keys, and likewise the first value."""
    return np.broadcast_to(new[:1], new.shape)


@wrong("corner", incident="BUG-03")
def stands_where_the_old_keys_end(cache: Cache, sequence: int, queries: int) -> int:
    """Aligns the last query with the last key cached before the call, not with the last new key."""
    return length(cache, sequence) - cache.new - queries


@wrong("keep", incident="BUG-45")
def keeps_nothing_of_what_it_adds(cache: Cache, before: Array, after: Array) -> Array:  # noqa: ARG001
    """Attends to the new keys, but does not store them: the caller's cache stays unchanged."""
    return before


@wrong("keep", incident="BUG-45")
def clears_the_rest_of_the_page(cache: Cache, before: Array, after: Array) -> Array:  # noqa: ARG001
    """Writes whole pages, so zeros overwrite the rest of the page after the new keys."""
    ends = [length(cache, b) for b in range(len(cache.lengths))]
    for b, keys in enumerate(ends if cache.new else []):
        rest = np.arange(keys, -(-keys // max(cache.places, 1)) * cache.places)
        after[page(cache, b, rest), rest % max(cache.places, 1)] = 0
    return after
