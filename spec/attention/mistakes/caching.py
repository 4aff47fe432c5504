"""Attention over a KV cache in named steps. Each bug of `paged` and `appended` replaces one step.

    behind -> page, place -> length -> order -> page, place -> corner -> attention -> keep

New keys are written after the last key of each sequence, and then all keys are read. A cache lies
either in pages, which a table lists, or in one row for each sequence. Such a row counts as a page.
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
    """Where the keys lie; there are as many sequences as there are lengths.

    pages, places: the number of pages, and of positions on a page. width: the size of a key.
    lengths: the number of keys of each sequence before the call. new: the number of keys that the
    call adds to each. table: the pages of each sequence.
    """

    pages: int
    places: int
    width: int
    lengths: Array
    new: int
    table: Array

    @property
    def room(self) -> int:
        """The largest number of keys that a sequence may have."""
        return self.places * self.table.shape[1]


def behind(cache: Cache, sequence: int) -> Array:
    """The positions of the new keys in their sequence."""
    return cache.lengths[sequence] + np.arange(cache.new)


def length(cache: Cache, sequence: int) -> int:
    """The number of keys of a sequence, including the new ones."""
    return int(cache.lengths[sequence]) + cache.new


def page(cache: Cache, sequence: int, number: Array) -> Array:
    """The page on which each key lies."""
    return cache.table[sequence, number // max(cache.places, 1)]


def place(cache: Cache, number: Array) -> Array:
    """The position of each key on its page."""
    return number % max(cache.places, 1)


def order(cache: Cache, sequence: int, number: Array) -> Array:  # noqa: ARG001
    """The keys in the order in which they are added up: that of the sequence."""
    return number


def corner(cache: Cache, sequence: int, queries: int) -> int:
    """The position of the first query: the last query is aligned with the last key."""
    return length(cache, sequence) - queries


def beside(rest: Array) -> float:  # noqa: ARG001
    """Zero: the part of the output from values after the last key of a page.   (rest, G, E)"""
    return 0.0


def keep(cache: Cache, before: Array, after: Array) -> Array:  # noqa: ARG001
    """The contents of the cache after the call, given those before and after writing new keys."""
    return after


@dataclass(frozen=True)
class Steps:
    """The steps that a known bug can replace.

    page_of_value, page_of_new: used in place of `page` for values and for new keys, if given.
    added: the new keys of a sequence as they are written.
    """

    behind: Callable[[Cache, int], Array] = behind
    length: Callable[[Cache, int], int] = length
    page: Callable[[Cache, int, Array], Array] = page
    place: Callable[[Cache, Array], Array] = place
    order: Callable[[Cache, int, Array], Array] = order
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
    """The output, computed sequence by sequence.   (B, N, H, E)"""
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
        r = steps.order(cache, b, np.arange(keys))
        rows = read(k_cache, cache, b, r, steps), read(v_cache, cache, b, r, steps, True)
        p = np.arange(q.shape[1]) + steps.corner(cache, b, q.shape[1])
        o[b] = attended(q[b], *rows, p, r, options)
        if keys % max(places, 1) and pages:
            o[b] += steps.beside(v_cache[table[b, keys // places], keys % places :])
    for held, was in zip((k_cache, v_cache), before, strict=True):
        held[...] = steps.keep(cache, was, held)
    return o


def write(held: Array, new: Array | None, cache: Cache, steps: Steps) -> None:
    """Write new keys, or values, after the last cached ones."""
    if new is None:
        return
    find = steps.page_of_new or steps.page
    for b, added in enumerate(new):
        number = np.clip(steps.behind(cache, b), 0, max(cache.room - 1, 0))
        held[find(cache, b, number) % cache.pages, steps.place(cache, number)] = steps.added(added)


def read(
    pages: Array, cache: Cache, sequence: int, number: Array, steps: Steps, of_values: bool = False
) -> Array:
    """The keys or the values of a sequence, by their numbers.   (keys, G, D) or (keys, G, E)"""
    find = (steps.page_of_value if of_values else None) or steps.page
    return pages[find(cache, sequence, number) % max(cache.pages, 1), steps.place(cache, number)]


def program(steps: Steps) -> Any:
    """Attention over a cache with these steps, in flash-attn's API dialect."""
    return flash.program(attend, steps)


def wrong(step: str, **facts: Any) -> mistake.Decorator:
    """Attention over a cache with one step replaced by the decorated function."""
    return mistake.wrong(Steps(), program, step, spoils="forward", **facts)
