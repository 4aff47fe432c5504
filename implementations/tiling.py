"""The tiles of `fused` and `fused_torch`: blocks of queries, and the keys that they may attend to.

A window leaves a band of keys, and segments leave the keys of the sequences of the queries. With
positions, the lowest and the highest position of a block decide. Blocks of queries end where a
sequence ends, so that tiles of one sequence need no mask. Sequences that are too short for their
own blocks share one.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from implementations.arguments import Sight, of_one_text
from spec.notation import Array

FEWEST = 128  # queries in a block: with fewer, calls cost more than arithmetic


class Texts(NamedTuple):
    """The packed sequences of a batch element, numbered from 0; padding has the number -1.

    mine: (N,), those of queries    theirs: (M,), those of keys
    until: (N,), the end of the run of queries of the same sequence
    first, behind: (T + 1,), begin and end of the keys of each of T sequences; padding has none
    solid: (T + 1,), whether all keys between them are of that sequence
    """

    mine: Array
    theirs: Array
    until: Array
    first: Array
    behind: Array
    solid: Array


class Places(NamedTuple):
    """The positions of the queries (N,) and of the keys (M,) of a batch element."""

    mine: Array
    theirs: Array


def places_of(pair: tuple[Array, Array] | None, B: int) -> list[Places | None]:
    """Return the positions of B batch elements, from (B or 1, 1, N, 1) and (B or 1, 1, 1, M).

    None for each element if there are none.
    """
    if pair is None:
        return [None] * B
    i, j = pair
    return [Places(i[b % len(i)].ravel(), j[b % len(j)].ravel()) for b in range(B)]


def texts_of(pair: tuple[Array, Array] | None, B: int) -> list[Texts | None]:
    """Return the sequences of B batch elements, from segments (B, N) and (B, M), or None."""
    if pair is None:
        return [None] * B
    return [numbered(mine, theirs) for mine, theirs in zip(*pair, strict=True)]


def numbered(mine: Array, theirs: Array) -> Texts:
    """Return the sequences that segments (N,) and (M,) describe, by labels in any order."""
    (i, queries), (j, keys) = in_a_row(mine), in_a_row(theirs)
    labels, x = np.unique(np.concatenate([queries, keys]), return_inverse=True)
    x = np.maximum(x - (labels < 0).sum(), -1).astype(np.int32)
    queries, keys = x[: len(queries)], x[len(queries) :]
    n, m = np.diff(i), np.diff(j)
    first, behind, count = np.zeros((3, len(labels) + 1), int)
    first[:] = len(theirs)
    first[keys[::-1]] = j[:-1][::-1]  # if a label occurs several times, the first run is kept
    behind[keys] = j[1:]
    np.add.at(count, keys, m)
    first[-1], behind[-1] = len(theirs), 0
    solid = count == behind - first
    texts, until = (np.repeat(queries, n), np.repeat(keys, m)), np.repeat(i[1:], n)
    return Texts(*texts, until, first, behind, solid)


def in_a_row(x: Array) -> tuple[Array, Array]:
    """Return the runs of equal integers: R + 1 bounds, and the integer of each of R runs."""
    starts = np.flatnonzero(np.diff(x, prepend=x[:1] - 1))
    return np.append(starts, len(x)), x[starts].astype(np.int64)


def blocks_of_rows(N: int, texts: Texts | None, most: int) -> Iterator[slice]:
    """Yield N queries in blocks of at most `most`.

    With segments, a block has one sequence, or several short ones, together at most `FEWEST`
    queries.
    """
    if texts is None:
        yield from blocks(slice(0, N), most)
        return
    start = begin = 0
    while begin < N:
        end = int(texts.until[begin])
        if start < begin and end - start > FEWEST:
            yield slice(start, begin)
            start = begin
        if end - start > FEWEST:
            yield from blocks(slice(start, end), most)
            start = end
        begin = end
    if start < N:
        yield slice(start, N)


def blocks_of_keys(
    rows: slice, M: int, window: Sight, texts: Texts | None, size: int, places: Places | None = None
) -> Iterator[tuple[slice, Array | None]]:
    """Yield the keys that a block of queries may attend to, with a mask of segments, (n, keys).

    The mask is None if all these keys are of the sequence of the queries. Blocks without a key in
    the window, or in a sequence of the queries, are left out. With positions, in any order, a key
    is left out if the window masks it for all positions between the lowest and the highest of the
    block.
    """
    if places is None:
        near_by = within_sight(rows, M, window)
        kept = slice(0, min(window.first, near_by.start, M))
        for part in (kept, near_by):
            yield from blocks_of_texts(rows, part, texts, size)
        return
    near = within_reach(rows, window, places)
    found = np.flatnonzero(near)
    within = slice(int(found[0]), int(found[-1]) + 1) if len(found) else slice(0, 0)
    for cols, own in blocks_of_texts(rows, within, texts, size):
        if near[cols].any():
            yield cols, own


def blocks_of_texts(
    rows: slice, within: slice, texts: Texts | None, size: int
) -> Iterator[tuple[slice, Array | None]]:
    """Yield consecutive keys of the sequences of a block, as `blocks_of_keys` does."""
    if texts is None:
        yield from ((cols, None) for cols in blocks(within, size))
        return
    alone = texts.until[rows.start] >= rows.stop
    mine = texts.mine[rows.start : rows.start + 1 if alone else rows.stop]
    start, stop = int(texts.first[mine].min()), int(texts.behind[mine].max())
    within = slice(max(within.start, start), min(within.stop, stop))
    if alone and texts.solid[mine[0]]:
        yield from ((cols, None) for cols in blocks(within, size))
        return
    asked = np.zeros(len(texts.first), bool)
    asked[mine], asked[-1] = True, False
    for cols in blocks(within, size):
        theirs = texts.theirs[cols]
        met = asked[theirs]
        if met.any():
            yield cols, None if alone and met.all() else of_one_text(texts.mine[rows, None], theirs)


def blocks(whole: slice, size: int) -> Iterator[slice]:
    """Yield a slice in slices of `size`, the last one shorter."""
    starts = range(whole.start, whole.stop, size)
    return (slice(i, min(i + size, whole.stop)) for i in starts)


def at_once(window: Sight, most: int) -> int:
    """Return the number of queries in a block: about half a window, as it reads the keys of all."""
    left, right, _ = window
    if left is None or right is None:
        return most
    return min(most, max(FEWEST, (left + right + 1) // 2))


def within_sight(rows: slice, M: int, window: Sight) -> slice:
    """Return the range of keys, of M, that some query of a block may attend to, by the window."""
    left, right, _ = window
    start = 0 if left is None else max(0, rows.start - left)
    stop = M if right is None else min(M, rows.stop + right)
    return slice(start, max(start, stop))


def within_reach(rows: slice, window: Sight, places: Places) -> Array:
    """Return False for each key that the window masks for all positions of a block.   (M,)"""
    (left, right, first), p, r = window, places.mine[rows], places.theirs
    near = np.ones(len(r), bool)
    if left is not None:
        near &= (r >= p.min() - left) | ((r < first) & (first > 0))
    if right is not None:
        near &= r <= p.max() + right
    return near


def extents(rows: slice, cols: slice, places: Places | None) -> tuple[slice, slice]:
    """Return the ranges of positions of the queries and keys of a tile, by default its rows."""
    if places is None:
        return rows, cols
    p, r = places.mine[rows], places.theirs[cols]
    mine, theirs = (slice(int(x.min()), int(x.max()) + 1) for x in (p, r))
    return mine, theirs


def cut(rows: slice, cols: slice, window: Sight) -> bool:
    """Return whether the window may mask a key of a tile for some query, by ranges of positions."""
    left, right, _ = window
    behind = left is not None and cols.start < rows.stop - 1 - left
    return behind or (right is not None and cols.stop - 1 > rows.start + right)
