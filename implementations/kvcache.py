"""Keys and values from a cache: in pages that a table names, or in a row with room behind them.

    key j of sequence b lies in page block_table[b, j // places], at place j mod places

as in flash-attn's `flash_attn_with_kvcache`. New keys are written behind the last one first, and
read like the others. The keys of a sequence are read from its pages into a
row, and `implementations.fused` does the rest, sequence by sequence, the last query standing at the
last key. So nothing is ever read that lies behind the last key, or in another sequence's pages.
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
    """o_i = sum_j a_ij v_j over the keys that the cache has for the sequence of query i.

    q (B, N, H, D) gives (B, N, H, E). k_cache (pages, places, G, D) and v_cache (pages, places, G,
    E) are read as block_table (B, pages of a sequence) says; without one they are (B, room, G, D)
    and (B, room, G, E). cache_seqlens (B,) says how many keys each sequence has. k (B, n, G, D) and
    v (B, n, G, E) are written behind these, into the cache, and are read as well. causal forbids
    keys ahead, the last query standing at the last key, and window_size (left, right) those further
    away, -1 being no bound. softcap 0 is none. alibi_slopes (H,) and sinks (H,) are as
    `implementations.fused` has them. return_softmax_lse: the log-sum-exp (B, H, N) comes as well.
    Raises ValueError: more keys than a sequence has room for, or fewer than none; a table or
    lengths of another number of sequences; pages that do not exist; new keys without values, or
    not as many; and what fused does. Then nothing is written.
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
    """Where keys lie. lengths: how many each sequence has (B,). new: of these, the last ones.

    places: of a page. table: the pages of each sequence.   (B, pages of a sequence)
    """

    places: int
    lengths: Array
    table: Array
    new: int

    @staticmethod
    def of(pages: Any, lengths: Array, table: Array | None, batch: int, new: int) -> "Cache":
        """Raises ValueError: a table and lengths that are none of such pages."""
        count, places = pages.shape[:2]
        if table is None:  # a page for each sequence
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
        """The pages of the new keys, and their places there.   two of (B, new)"""
        number = self.lengths[:, None] - self.new + np.arange(self.new)
        return np.take_along_axis(self.table, number // self.places, 1), number % self.places

    def used(self, sequence: int) -> Array:
        """The pages of a sequence that hold its keys."""
        return self.table[sequence, : -(-self.lengths[sequence] // self.places)]

    def read(self, pages: Array, sequence: int) -> Array:
        """The keys or values of a sequence in a row.   (length, G, width)"""
        used = self.used(sequence)
        row = pages[used].reshape(len(used) * self.places, *pages.shape[2:])
        return row[: self.lengths[sequence]]


def added(batch: int, k: Any, v: Any) -> int:
    """How many new keys each sequence has. Raises ValueError: not as many values."""
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
    """What fused functions answer for each sequence, whose last query stands at its last key.

    wanted: functions, and what their answers are written into. keys: of each sequence, and its
    values. array: makes an array of the library of an array.
    """
    bounds = said["is_causal"] or said["window_size"] != UNBOUNDED
    placed = bounds or said["alibi_slopes"] is not None  # else places are of no use
    for b, (queries, (k, v)) in enumerate(zip(q, keys, strict=True)):
        places = standing(len(queries), len(k)) if placed else {}
        told = {**said, **{name: array(x) for name, x in places.items()}}
        for of, into in wanted:
            found = of(as_one(queries), as_one(k), as_one(v), **told)
            into[b] = unpacked(found) if found.ndim == 4 else found[0]
    return tuple(into for _, into in wanted)


def standing(queries: int, keys: int) -> dict[str, Array]:
    """The places of queries and keys of a sequence, of which the last ones meet."""
    return {
        "query_positions": np.arange(keys - queries, keys)[None],
        "key_positions": np.arange(keys)[None],
    }
