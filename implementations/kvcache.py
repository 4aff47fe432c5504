"""Attention to keys and values in a cache: in pages with a table, or in a row with free room.

    key j of sequence b is in page block_table[b, j // size], at slot j mod size

size is the number of keys in a page, as in `flash_attn_with_kvcache` of flash-attn. New keys are
first written after the last one, and then read like the others. The keys of a sequence are read
from its pages into a row, and `implementations.fused` computes one sequence after another. The last
query has the position of the last key. So no memory after the last key, or in pages of other
sequences, is read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from implementations import fused
from implementations.arguments import UNBOUNDED
from implementations.packed import NO_BOUND, as_one, options, unpacked
from spec.notation import Array


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
    return_softmax_lse: bool = False,
) -> Any:
    """Return o_i = sum_j a_ij v_j over the keys in the cache for the sequence of query i.

    q (B, N, H, D) gives (B, N, H, E). k_cache (pages, page size, G, D) and v_cache
    (pages, page size, G, E) are in pages that block_table (B, pages of one) lists; without it they
    are (B, room, G, D) and (B, room, G, E). cache_seqlens (B,) is the number of keys of each
    sequence. k (B, n, G, D) and v (B, n, G, E) are written after these, into the cache, and are
    read as well. causal masks keys ahead, where the last query has the position of the last key.
    window_size (left, right) masks keys further away; -1 is no bound. softcap 0 is none.
    alibi_slopes (H,) and sinks (H,) are those of `implementations.fused`. return_softmax_lse: also
    return the log-sum-exp (B, H, N).
    Raises ValueError if a length is negative, or more keys than a sequence has room for; if the
    table or the lengths have another number of sequences; if pages do not exist; if the numbers of
    new keys and new values differ; and for arguments that `fused` does not accept. Then nothing is
    written.
    """
    cache = Cache.of(k_cache, cache_seqlens, block_table, len(q), added(len(q), k, v))
    said = options(softmax_scale, causal, window_size, softcap, alibi_slopes, sinks)
    for pages, new in ((k_cache, k), (v_cache, v)):
        if new is not None:
            pages[cache.behind] = new
    keys = ([cache.read(x, b) for x in (k_cache, v_cache)] for b in range(len(q)))
    o = np.zeros((*q.shape[:3], v_cache.shape[3]), q.dtype)
    if not return_softmax_lse:
        return filled([(fused.attend, o)], q, keys, said)[0]
    exact = np.promote_types(q.dtype, np.float32)
    lse = np.zeros((q.shape[0], q.shape[2], q.shape[1]), exact)
    return filled([(fused.attend, o), (fused.lse, lse)], q, keys, said)


@dataclass(frozen=True)
class Cache:
    """The location of keys in pages.

    lengths: of each sequence, with new keys (B,). new: the number of new ones. places: the number
    of keys in a page. table: the pages of each sequence.   (B, pages of one)
    """

    places: int
    lengths: Array
    table: Array
    new: int

    @staticmethod
    def of(pages: Any, lengths: Array, table: Array | None, batch: int, new: int) -> "Cache":
        """Return the cache. Raises ValueError for a table or lengths that do not fit the pages."""
        count, places = pages.shape[:2]
        if table is None:  # one page for each sequence
            table = np.arange(count)[:, None]
        if lengths.shape != (batch,) or (table.ndim, len(table)) != (2, batch):
            raise ValueError(f"lengths {lengths.shape}, a table {table.shape}, {batch} sequences")
        room = places * table.shape[1]
        if (lengths < 0).any() or (lengths + new > room).any():
            raise ValueError(f"lengths {lengths.tolist()}, {new} new keys, and room for {room}")
        named = table[np.arange(table.shape[1]) * places < lengths[:, None] + new]
        if (named < 0).any() or (named >= count).any():
            raise ValueError(f"pages {named.tolist()}, and there are {count}")
        return Cache(places, lengths + new, table.astype(np.int64), new)

    @property
    def behind(self) -> tuple[Array, Array]:
        """The pages of the new keys, and their slots there.   two of (B, new)"""
        number = self.lengths[:, None] - self.new + np.arange(self.new)
        return np.take_along_axis(self.table, number // self.places, 1), number % self.places

    def used(self, sequence: int) -> Array:
        """Return the pages of a sequence that contain its keys."""
        return self.table[sequence, : -(-self.lengths[sequence] // self.places)]

    def read(self, pages: Array, sequence: int) -> Array:
        """Return the keys or values of a sequence in a row.   (length, G, width)"""
        used = self.used(sequence)
        row = pages[used].reshape(len(used) * self.places, *pages.shape[2:])
        return row[: self.lengths[sequence]]


def added(batch: int, k: Any, v: Any) -> int:
    """Return the number of new keys of each sequence. ValueError: another number of values."""
    shapes = [None if x is None else tuple(x.shape[:2]) for x in (k, v)]
    if shapes[0] != shapes[1] or (k is not None and len(k) != batch):
        raise ValueError(f"new keys and values (sequences, tokens): {shapes[0]} and {shapes[1]}")
    return 0 if k is None else int(k.shape[1])


def filled(
    wanted: Sequence[tuple[Callable[..., Any], Any]],
    q: Any,
    keys: Iterable[Sequence[Any]],
    said: Mapping[str, Any],
    array: Callable[[Array], Any] = np.asarray,
) -> tuple[Any, ...]:
    """Return the results of fused functions for each sequence; its last query is at its last key.

    wanted: functions, and the arrays for their results. keys: the keys and values of each sequence.
    array: converts a NumPy array to one of the library.
    """
    bounds = said["is_causal"] or said["window_size"] != UNBOUNDED
    placed = bounds or said["alibi_slopes"] is not None  # otherwise positions have no influence
    for b, (queries, (k, v)) in enumerate(zip(q, keys, strict=True)):
        places = standing(len(queries), len(k)) if placed else {}
        told = {**said, **{name: array(x) for name, x in places.items()}}
        for of, into in wanted:
            found = of(as_one(queries), as_one(k), as_one(v), **told)
            into[b] = unpacked(found) if found.ndim == 4 else found[0]
    return tuple(into for _, into in wanted)


def standing(queries: int, keys: int) -> dict[str, Array]:
    """Return the positions of queries and keys of a sequence, so that the last ones are equal."""
    return {
        "query_positions": np.arange(keys - queries, keys)[None],
        "key_positions": np.arange(keys)[None],
    }
