"""New keys that are written wrongly behind those of a cache, or read wrongly from there.

What is written is read at the next step, so that a test of one step sees little of it; and a cache
of zeros hides what is written over its end.
"""

import numpy as np

from spec.attention.mistakes.caching import Cache, behind, length, page, wrong
from spec.notation import Array


@wrong("length", incident="I45")
def does_not_see_what_it_adds(cache: Cache, sequence: int) -> int:
    """Reads as many keys as there were."""
    return length(cache, sequence) - cache.new


@wrong("behind", incident="I45")
def adds_one_place_behind(cache: Cache, sequence: int) -> Array:
    """Takes the length for the place of the last key."""
    return behind(cache, sequence) + 1


@wrong("behind", incident="I45")
def adds_over_the_last_key(cache: Cache, sequence: int) -> Array:
    """Counts from one, and writes where the last key is."""
    return behind(cache, sequence) - 1


@wrong("behind", incident="I45")
def takes_the_length_for_that_after(cache: Cache, sequence: int) -> Array:
    """Writes so that the new keys end where the old ones do."""
    return behind(cache, sequence) - cache.new


@wrong("behind", incident="I30")
def adds_where_the_first_sequence_ends(cache: Cache, _: int) -> Array:
    """Writes to the place of the first sequence in all."""
    return behind(cache, 0)


@wrong("page_of_new", incident="I45", citation="Dao-AILab/flash-attention#772")
def adds_to_the_first_sequence(cache: Cache, _: int, number: Array) -> Array:
    """Has the pages of the first sequence for all that is written."""
    return page(cache, 0, number)


@wrong("page_of_new", incident="I45")
def adds_to_the_page_of_the_first_new_key(cache: Cache, sequence: int, number: Array) -> Array:
    """Looks the page up once, and wraps around on it."""
    return np.full_like(number, page(cache, sequence, number[:1]).sum())


@wrong("added", incident="I45")
def adds_the_first_of_several_to_all_places(new: Array) -> Array:
    """Was made for one token at a time."""
    return np.broadcast_to(new[:1], new.shape)


@wrong("corner", incident="I03")
def stands_where_the_old_keys_end(cache: Cache, sequence: int, queries: int) -> int:
    """Has the last query stand at the last key that was there before."""
    return length(cache, sequence) - cache.new - queries


@wrong("keep", incident="I45")
def keeps_nothing_of_what_it_adds(cache: Cache, before: Array, after: Array) -> Array:  # noqa: ARG001
    """Reads new keys, and writes them into a copy."""
    return before


@wrong("keep", incident="I45")
def clears_the_rest_of_the_page(cache: Cache, before: Array, after: Array) -> Array:  # noqa: ARG001
    """Writes whole pages, with zeros behind the new keys."""
    ends = [length(cache, b) for b in range(len(cache.lengths))]
    for b, keys in enumerate(ends if cache.new else []):
        rest = np.arange(keys, -(-keys // max(cache.places, 1)) * cache.places)
        after[page(cache, b, rest), rest % max(cache.places, 1)] = 0
    return after
