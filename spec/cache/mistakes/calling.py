"""Known bugs of the call as the caller sees it, and variants that only look wrong."""

from dataclasses import replace
from typing import Any

import numpy as np

from spec.attention.mistakes.summing import PART, in_parts
from spec.cache.mistakes import steps
from spec.cache.mistakes.making import Buffered, Extend, wrong
from spec.cache.mistakes.steps import Kept
from spec.cache.reading import put
from spec.notation import Array


@wrong("call", incident="plausible")
def scales_queries_in_place(extend: Extend, cache: Buffered, query: Array, *rest: Any) -> Array:
    """Scales the caller's query array in place after it has computed the output."""
    out = extend(cache, query, *rest)
    query *= query.dtype.type(0.5)
    return out


@wrong("call", incident="BUG-29")
def answers_into_the_same_array(extend: Extend, cache: Buffered, *chunk: Any) -> Array:
    """Returns the same array from every call of one shape, so a new output overwrites the last."""
    out = extend(cache, *chunk)
    held: Array | None = vars(cache).get("held")
    if held is None or held.shape != out.shape:
        held = vars(cache)["held"] = np.empty_like(out)
    held[...] = out
    return held


@wrong("call", incident="plausible")
def answers_where_the_values_were(
    extend: Extend, cache: Buffered, query: Array, key: Array, value: Array, counts: Array | None
) -> Array:
    """Returns the caller's value array itself, not a copy, for a single first token."""
    first = not cache.kept.lengths.any() and query.shape == value.shape and query.shape[2] == 1
    out = extend(cache, query, key, value, counts)
    return value if first and counts is None else out


# Fewer queries than keys

SHORT = "a step of fewer queries than keys asked for and a chunk of several tokens"


@wrong("call", incident="BUG-03", where=SHORT)
def takes_queries_for_the_last_tokens(
    extend: Extend, cache: Buffered, query: Array, key: Array, *rest: Any
) -> Array:
    """Aligns the last query of a step with its last key, not the first query with its first key."""
    n = query.shape[2]
    before = np.repeat(query[:, :, :1], key.shape[2] - n, axis=2)
    out = extend(cache, np.concatenate([before, query], axis=2), key, *rest)
    return out[:, :, key.shape[2] - n :]


@wrong("call", incident="plausible", where=f"{SHORT} and several steps")
def reads_as_many_keys_as_there_are_queries(
    extend: Extend, cache: Buffered, query: Array, key: Array, value: Array, counts: Array | None
) -> Array:
    """Reads only as many keys of a step as it has queries, and loses the other keys."""
    n = query.shape[2]
    told = None if counts is None else np.minimum(counts, n)
    return extend(cache, query, key[:, :, :n], value[:, :, :n], told)


# Harmless


@wrong("forget", incident="BUG-40", harmless=True)
def clears_what_is_taken_back(kept: Kept, lengths: Array) -> None:
    """Overwrites rolled-back keys and values, which are masked anyway, with zeros."""
    gone = np.arange(kept.room) >= lengths[:, None]
    kept.k, kept.v = (np.where(gone[:, None, :, None], 0, x) for x in (kept.k, kept.v))
    kept.lengths = lengths


@wrong("grow", incident="BUG-40", harmless=True)
def grows_by_more_than_it_must(x: Array, length: int) -> Array:
    """Makes room for three times as many tokens as needed."""
    return steps.grow(x, 3 * length)


@wrong("write", incident="BUG-40", harmless=True)
def writes_padding_and_hides_it(kept: Kept, key: Array, value: Array, counts: Array) -> None:
    """Writes padding tokens to the cache, masks them, and lets the next chunk overwrite them."""
    del counts
    n = key.shape[2]
    most, every = int(kept.lengths.max()) + n, np.full(len(key), n)
    kept.k, kept.v = (steps.grow(x, most) for x in (kept.k, kept.v))
    put(kept.k, key, kept.lengths, every)
    put(kept.v, value, kept.lengths, every)


@wrong("call", incident="BUG-40", harmless=True, force="promise")
def adds_a_shared_prefix_apart(
    extend: Extend, cache: Buffered, query: Array, key: Array, value: Array, counts: Array | None
) -> Array:
    """Adds the values of a forked cache in parts, as a kernel for shared prefixes does."""
    (owner,) = cache.kept.notes.setdefault("owner", [cache])  # a fork has the notes of the other
    if owner is not cache:
        apart = replace(cache.steps, combine=lambda a, v, seen: in_parts(a, v, seen, PART))
        cache = Buffered(cache.kept, apart, cache.persistent)
    return extend(cache, query, key, value, counts)
