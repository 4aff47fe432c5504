"""Positions of queries and of keys that need not be the row numbers.

Servers and training have them after a cache, in one chunk of many, with padding on the left, with
gaps where tokens were dropped, with several alternatives for one token, and in the order in which
machines share a sequence. Others do not occur in practice, but attention is defined for them too.
"""

from collections.abc import Callable, Mapping

import numpy as np

from spec.notation import Array
from spec.stream import Stream

FAR = (2**11, 2**15, 2**16, 2**24, 2**28)  # where formats end, or no longer distinguish neighbours
Pair = tuple[Array, Array]


def drawn(seed: int, batch: int, queries: int, keys: int, near: bool = False) -> Pair:
    """Positions (B, N) and (B, M). near: none is far from 0, as only one side is given."""
    chance = Stream(seed)
    way = chance.choice(tuple(WAYS.values()))
    found = np.zeros((batch, queries), dtype=int), np.zeros((batch, keys), dtype=int)
    for mine, theirs in zip(*found, strict=True):
        mine[:], theirs[:] = way(chance, queries, keys)
    if chance.random() < 0.25 and not near:
        back = chance.integers(0, keys + 1, (batch, 1))  # so that the edge lies among the tokens
        moved = chance.choice(FAR) * chance.choice((-1, 1)) - back
        found = found[0] + moved, found[1] + moved
    return found


def in_text(mine: Array | None, theirs: Array | None, corner: str) -> Pair:
    """The positions of queries and keys in their sequences, by segments.   (B, N), (B, M)

    corner: bottom-right gives the last query and the last key of each sequence one position.
    """
    assert mine is not None
    assert theirs is not None
    p, r = _ranks(mine), _ranks(theirs)
    if corner == "bottom-right":
        queries, keys = ((mine[:, :, None] == x[:, None, :]).sum(axis=-1) for x in (mine, theirs))
        p += keys - queries
    return p, r


def _ranks(x: Array) -> Array:
    """The number of tokens of the same segment before each token.   (B, length)"""
    order, rows = np.argsort(x, axis=-1, kind="stable"), np.arange(x.shape[-1])
    texts = np.take_along_axis(x, order, -1)
    new = np.diff(texts, axis=-1, prepend=texts[:, :1] - 1) != 0
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, rows - np.maximum.accumulate(new * rows, axis=-1), -1)
    return ranks


def behind(chance: Stream, queries: int, keys: int) -> Pair:
    """Consecutive queries that start anywhere among the keys: a chunk, or the last tokens."""
    start = keys - queries if chance.random() < 0.5 else chance.below(keys + 1)
    return start + np.arange(queries), np.arange(keys)


def padded(chance: Stream, queries: int, keys: int) -> Pair:
    """Padding comes before the sequence, at positions below 0, or all of it at 0."""
    count = chance.below(keys // 2 + 1)
    r = np.arange(keys) - count
    p = keys - queries - count + np.arange(queries)
    lowest = chance.choice((0, -keys - queries))
    return np.maximum(p, lowest), np.maximum(r, lowest)


def with_gaps(chance: Stream, queries: int, keys: int) -> Pair:
    """Some tokens are dropped, and the others keep their positions."""
    among = 3 * max(queries, keys) // 2 + 1
    p, r = (np.sort(chance.permutation(among)[:count]) for count in (queries, keys))
    return p, r


def repeated(chance: Stream, queries: int, keys: int) -> Pair:
    """Several tokens at one position, such as guesses of the next token."""
    p, r = (np.sort(chance.integers(0, keys // 2 + 2, count)) for count in (queries, keys))
    return p, r


def mixed(chance: Stream, queries: int, keys: int) -> Pair:
    """The tokens of a sequence in any order, as where several machines share it."""
    p, r = behind(chance, queries, keys)
    return chance.permutation(p), chance.permutation(r)


def dealt(chance: Stream, queries: int, keys: int) -> Pair:
    """Keys: every second token, then the others. Queries: those of one of the two halves."""
    order = np.argsort(np.arange(keys) % 2, kind="stable")
    return 2 * np.arange(queries) + chance.below(2), order


def anew(chance: Stream, queries: int, keys: int) -> Pair:
    """Several sequences in a row, each with positions from 0."""
    length = chance.randrange(1, keys + 2)
    return np.arange(queries) % length, np.arange(keys) % length


def alike(_: Stream, queries: int, keys: int) -> Pair:
    """The row numbers."""
    return np.arange(queries), np.arange(keys)


WAYS: Mapping[str, Callable[[Stream, int, int], Pair]] = {
    way.__name__: way for way in (behind, padded, with_gaps, repeated, mixed, dealt, anew, alike)
}
