"""Where the tiles of `fused` and `fused_torch` lie: which queries, and which keys they may see.

A window leaves a band of keys, and segments those of the texts that the queries are of; where
tokens have positions, what is left is told by the lowest and the highest of a block. So
that tiles of one text alone need no mask, queries are cut into blocks where a text ends,
unless several are too short for blocks of their own.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from implementations.arguments import Sight, of_one_text
from spec.notation import Array

FEWEST = 128  # queries in a block: with fewer, calling costs more than computing


class Texts(NamedTuple):
    """The texts that a sequence holds, by numbers from 0 on; padding, and its number, is -1.

    mine: (N,), those of queries    theirs: (M,), those of keys
    until: (N,), where the queries of the same text end that follow each other
    first, behind: (T + 1,), where the keys of each of T texts begin and end, of padding nowhere
    solid: (T + 1,), whether there are no others between them
    """

    mine: Array
    theirs: Array
    until: Array
    first: Array
    behind: Array
    solid: Array


class Places(NamedTuple):
    """The positions of the queries (N,) and of the keys (M,) of a sequence."""

    mine: Array
    theirs: Array


def places_of(pair: tuple[Array, Array] | None, B: int) -> list[Places | None]:
    """The places of B sequences, (B or 1, 1, N, 1) and (B or 1, 1, 1, M); None for rows."""
    if pair is None:
        return [None] * B
    i, j = pair
    return [Places(i[b % len(i)].ravel(), j[b % len(j)].ravel()) for b in range(B)]


def texts_of(pair: tuple[Array, Array] | None, B: int) -> list[Texts | None]:
    """The texts of B sequences, of segments (B, N) and (B, M); None where none are given."""
    if pair is None:
        return [None] * B
    return [numbered(mine, theirs) for mine, theirs in zip(*pair, strict=True)]


def numbered(mine: Array, theirs: Array) -> Texts:
    """Segments (N,) and (M,), which are labels in any order, as texts."""
    (i, queries), (j, keys) = in_a_row(mine), in_a_row(theirs)
    labels, x = np.unique(np.concatenate([queries, keys]), return_inverse=True)
    x = np.maximum(x - (labels < 0).sum(), -1).astype(np.int32)
    queries, keys = x[: len(queries)], x[len(queries) :]
    n, m = np.diff(i), np.diff(j)
    first, behind, count = np.zeros((3, len(labels) + 1), int)
    first[:] = len(theirs)
    first[keys[::-1]] = j[:-1][::-1]  # of several the last is kept
    behind[keys] = j[1:]
    np.add.at(count, keys, m)
    first[-1], behind[-1] = len(theirs), 0
    solid = count == behind - first
    texts, until = (np.repeat(queries, n), np.repeat(keys, m)), np.repeat(i[1:], n)
    return Texts(*texts, until, first, behind, solid)


def in_a_row(x: Array) -> tuple[Array, Array]:
    """Where equal integers follow each other: R + 1 bounds, and the R integers between them."""
    starts = np.flatnonzero(np.diff(x, prepend=x[:1] - 1))
    return np.append(starts, len(x)), x[starts].astype(np.int64)


def blocks_of_rows(N: int, texts: Texts | None, most: int) -> Iterator[slice]:
    """N queries in blocks of `most`; with texts of one text each, or of several that are short:
    whole ones, which are no more than `FEWEST` together.
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
    """The keys that some query of a block may see, and which of them are of its text: (n, keys),
    None for all. What is in sight, but has no key of a text of the block, is left out; and of what
    has positions, in any order, what a window hides from all places that the block extends over.
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
    """Of some keys in a row those of the texts of a block, as `blocks_of_keys` has them."""
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
    """A slice in slices of `size`, the last one shorter."""
    starts = range(whole.start, whole.stop, size)
    return (slice(i, min(i + size, whole.stop)) for i in starts)


def at_once(window: Sight, most: int) -> int:
    """How many queries of a block: half a window, as the block sees the keys of all of them."""
    left, right, _ = window
    if left is None or right is None:
        return most
    return min(most, max(FEWEST, (left + right + 1) // 2))


def within_sight(rows: slice, M: int, window: Sight) -> slice:
    """Of M keys those that some query of a block sees, as far as the window tells."""
    left, right, _ = window
    start = 0 if left is None else max(0, rows.start - left)
    stop = M if right is None else min(M, rows.stop + right)
    return slice(start, max(start, stop))


def within_reach(rows: slice, window: Sight, places: Places) -> Array:
    """True for each key but those that lie before or behind all that a block sees.   (M,)"""
    (left, right, first), p, r = window, places.mine[rows], places.theirs
    near = np.ones(len(r), bool)
    if left is not None:
        near &= (r >= p.min() - left) | ((r < first) & (first > 0))
    if right is not None:
        near &= r <= p.max() + right
    return near


def extents(rows: slice, cols: slice, places: Places | None) -> tuple[slice, slice]:
    """How far the places of a tile's queries and keys extend: as far as rows, if these are they."""
    if places is None:
        return rows, cols
    p, r = places.mine[rows], places.theirs[cols]
    mine, theirs = (slice(int(x.min()), int(x.max()) + 1) for x in (p, r))
    return mine, theirs


def cut(rows: slice, cols: slice, window: Sight) -> bool:
    """Whether a window hides a key of a tile, as far as its places extend, from a query of it."""
    left, right, _ = window
    behind = left is not None and cols.start < rows.stop - 1 - left
    return behind or (right is not None and cols.stop - 1 > rows.start + right)
