"""Attention over a cache in named steps: what the mistakes of `paged` and `appended` replace.

    behind -> page, place -> length -> page, place -> corner -> attention -> keep

New keys are written behind the last one of each sequence, and then all are read. A cache may
lie in pages that a table names, or in a row for each sequence, which is a page of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec import mistake
from spec.attention.mistakes import flash
from spec.attention.mistakes.flash import NO_BOUND, attended, said
from spec.notation import Array


@dataclass(frozen=True)
class Cache:
    """What is known of where keys lie: as many sequences as there are lengths.

    pages, places: how many there are, of one; width: of a key. lengths: of what was there; new: how
    many keys are added to each. table: the pages of each sequence.
    """

    pages: int
    places: int
    width: int
    lengths: Array
    new: int
    table: Array

    @property
    def room(self) -> int:
        """How many keys a sequence may have."""
        return self.places * self.table.shape[1]


def behind(cache: Cache, sequence: int) -> Array:
    """The numbers of the new keys among all keys of a sequence."""
    return cache.lengths[sequence] + np.arange(cache.new)


def length(cache: Cache, sequence: int) -> int:
    """How many keys a sequence has, the new ones among them."""
    return int(cache.lengths[sequence]) + cache.new


def page(cache: Cache, sequence: int, number: Array) -> Array:
    """The page of each key."""
    return cache.table[sequence, number // max(cache.places, 1)]


def place(cache: Cache, number: Array) -> Array:
    """Its place there."""
    return number % max(cache.places, 1)


def corner(cache: Cache, sequence: int, queries: int) -> int:
    """The place of the first query, so that the last one stands at the last key."""
    return length(cache, sequence) - queries


def beside(rest: Array) -> float:  # noqa: ARG001
    """What the values behind the last key, on its page, add to an output.   (rest, G, E)"""
    return 0.0


def keep(cache: Cache, before: Array, after: Array) -> Array:  # noqa: ARG001
    """What the cache holds in the end, of what it held before and holds after."""
    return after


@dataclass(frozen=True)
class Steps:
    """What there is to do wrong.

    page_of_value, page_of_new: where that is another page than that of the key. added: the new
    keys of a sequence as they are written.
    """

    behind: Callable[[Cache, int], Array] = behind
    length: Callable[[Cache, int], int] = length
    page: Callable[[Cache, int, Array], Array] = page
    place: Callable[[Cache, Array], Array] = place
    page_of_value: Callable[[Cache, int, Array], Array] | None = None
    page_of_new: Callable[[Cache, int, Array], Array] | None = None
    added: Callable[[Array], Array] = lambda new: new
    corner: Callable[[Cache, int, int], int] = corner
    beside: Callable[[Array], float] = beside
    keep: Callable[[Cache, Array, Array], Array] = keep


def attend(
    q: Array,
    k_cache: Array,
    v_cache: Array,
    cache_seqlens: Array,
    block_table: Array | None = None,
    k: Array | None = None,
    v: Array | None = None,
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
    cache = Cache(pages, places, width, cache_seqlens, 0 if k is None else k.shape[1], table)
    before = k_cache.copy(), v_cache.copy()
    for held, new in ((k_cache, k), (v_cache, v)):
        write(held, new, cache, steps)
    options = said(softmax_scale, causal, window_size, softcap, alibi_slopes, sinks)
    o = np.zeros((*q.shape[:3], v_cache.shape[3]), q.dtype)
    for b in range(len(q)):
        keys = min(max(steps.length(cache, b), 0), cache.room)
        rows = read(k_cache, cache, b, keys, steps), read(v_cache, cache, b, keys, steps, True)
        p, r = np.arange(q.shape[1]) + steps.corner(cache, b, q.shape[1]), np.arange(keys)
        o[b] = attended(q[b], *rows, p, r, options)
        if keys % max(places, 1) and pages:
            o[b] += steps.beside(v_cache[table[b, keys // places], keys % places :])
    for held, was in zip((k_cache, v_cache), before, strict=True):
        held[...] = steps.keep(cache, was, held)
    return o


def write(held: Array, new: Array | None, cache: Cache, steps: Steps) -> None:
    """Put new keys, or values, behind the last ones."""
    if new is None:
        return
    find = steps.page_of_new or steps.page
    for b, added in enumerate(new):
        number = np.clip(steps.behind(cache, b), 0, max(cache.room - 1, 0))
        held[find(cache, b, number) % cache.pages, steps.place(cache, number)] = steps.added(added)


def read(
    pages: Array, cache: Cache, sequence: int, keys: int, steps: Steps, of_values: bool = False
) -> Array:
    """Keys or values of a sequence.   (keys, G, D) or (keys, G, E)"""
    find = (steps.page_of_value if of_values else None) or steps.page
    number = np.arange(keys)
    return pages[find(cache, sequence, number) % max(cache.pages, 1), steps.place(cache, number)]


def program(steps: Steps) -> Any:
    """Attention over a cache with these steps, in flash-attn's spelling."""
    return flash.program(attend, steps)


def wrong(step: str, **facts: Any) -> mistake.Decorator:
    """Attention over a cache with one step replaced by the decorated function."""
    return mistake.wrong(Steps(), program, step, spoils="forward", **facts)
