"""Keys and values from a cache: in pages that a table names, or in a row with room behind them.

    key j of sequence b lies in page block_table[b, j // places], at place j mod places

as in flash-attn's `flash_attn_with_kvcache`. The keys of a sequence are read from its pages into a
row, and `implementations.fused` does the rest, sequence by sequence, the last query standing at the
last key. So nothing is ever read that lies behind the last key, or in another sequence's pages.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    and (B, room, G, E). cache_seqlens (B,) says how many keys each sequence has. causal forbids
    keys ahead, the last query standing at the last key, and window_size (left, right) those further
    away, -1 being no bound. softcap 0 is none. alibi_slopes (H,) and sinks (H,) are as
    `implementations.fused` has them. return_softmax_lse: the log-sum-exp (B, H, N) comes as well.
    Raises ValueError: more keys than a sequence has room for, or fewer than none; a table or
    lengths of another number of sequences; pages that do not exist; and what fused does.
    """
    said = options(softmax_scale, causal, window_size, softcap, alibi_slopes, sinks)
    wanted = (fused.attend, fused.lse)[: 1 + return_softmax_lse]
    o = np.zeros((*q.shape[:3], v_cache.shape[3]), q.dtype)
    exact = np.promote_types(q.dtype, np.float32)
    lse = np.zeros((q.shape[0], q.shape[2], q.shape[1]), exact)
    keys = read(len(q), k_cache, v_cache, cache_seqlens, block_table)
    for b, found in enumerate(each(wanted, q, keys, said)):
        o[b], lse[b] = unpacked(found[0]), found[-1][0] if return_softmax_lse else 0
    return (o, lse) if return_softmax_lse else o


def each(
    wanted: Sequence[Callable[..., Any]],
    q: Any,
    keys: Iterable[tuple[Any, Any]],
    said: Mapping[str, Any],
    array: Callable[[Array], Any] = np.asarray,
) -> Iterator[list[Any]]:
    """What fused functions answer for each sequence, whose last query stands at its last key.

    array: makes an array of the library of an array.
    """
    bounds = said["is_causal"] or said["window_size"] != UNBOUNDED
    placed = bounds or said["alibi_slopes"] is not None  # else places are of no use
    for queries, (k, v) in zip(q, keys, strict=True):
        places = standing(len(queries), len(k)) if placed else {}
        told = {**said, **{name: array(x) for name, x in places.items()}}
        yield [of(as_one(queries), as_one(k), as_one(v), **told) for of in wanted]


def read(
    batch: int,
    k_cache: Any,
    v_cache: Any,
    lengths: Array,
    table: Array | None,
    take: Callable[[Any, Array], Any] = lambda pages, used: pages[used],
) -> Iterator[tuple[Any, Any]]:
    """The keys (length, G, D) and the values (length, G, E) of each sequence, in NumPy or torch.

    take: some pages of all. Raises ValueError: as `attend` does.
    """
    pages, places = k_cache.shape[:2]
    checked(batch, pages, places, lengths, table)
    for b, length in enumerate(lengths.tolist()):
        if table is None:
            yield k_cache[b, :length], v_cache[b, :length]
            continue
        used = table[b, : -(-length // places)]
        count = len(used) * places
        rows = [take(x, used).reshape(count, *x.shape[2:]) for x in (k_cache, v_cache)]
        yield rows[0][:length], rows[1][:length]


def checked(batch: int, pages: int, places: int, lengths: Array, table: Array | None) -> None:
    """Raises ValueError: lengths and a table that are none of such a cache."""
    if lengths.shape != (batch,) or (table is not None and (table.ndim, len(table)) != (2, batch)):
        told = "" if table is None else f" and a table {table.shape}"
        raise ValueError(f"lengths {lengths.shape}{told} for {batch} sequences")
    if table is None and pages != batch:
        raise ValueError(f"{pages} sequences in the cache, and {batch} of queries")
    room = places if table is None else places * table.shape[1]
    if (lengths < 0).any() or (lengths > room).any():
        raise ValueError(f"lengths {lengths.tolist()}, and room for {room} keys")
    if table is None:
        return
    named = table[np.arange(table.shape[1]) * places < lengths[:, None]]
    if (named < 0).any() or (named >= pages).any():
        raise ValueError(f"pages {named.tolist()}, and there are {pages}")


def standing(queries: int, keys: int) -> dict[str, Array]:
    """The places of queries and keys of a sequence, of which the last ones meet."""
    return {
        "query_positions": np.arange(keys - queries, keys)[None],
        "key_positions": np.arange(keys)[None],
    }
