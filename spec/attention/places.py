"""Where tokens stand that are not numbered from 0: the positions of queries and of keys.

As servers and trainings have them: behind a cache, one chunk of many, padded to the left, with gaps
where tokens were dropped, of which several are alternatives of each other, in the order in which
several machines share a text; and as nobody has them, which is all the same to attention.
"""

from collections.abc import Callable, Mapping

import numpy as np

from spec.choices import generator
from spec.notation import Array

FAR = (2**11, 2**15, 2**16, 2**24, 2**28)  # where formats end, or tell neighbours apart no more
Chance = np.random.Generator
Pair = tuple[Array, Array]


def drawn(seed: int, batch: int, queries: int, keys: int, near: bool = False) -> Pair:
    """Positions (B, N) and (B, M); near: none are far from 0, as one side alone is given."""
    chance = generator(seed)
    way = tuple(WAYS.values())[chance.integers(len(WAYS))]
    found = np.zeros((batch, queries), dtype=int), np.zeros((batch, keys), dtype=int)
    for mine, theirs in zip(*found, strict=True):
        mine[:], theirs[:] = way(chance, queries, keys)
    if chance.random() < 0.25 and not near:
        back = chance.integers(keys + 1, size=(batch, 1))  # so that an edge falls among the tokens
        moved = chance.choice(FAR) * chance.choice((-1, 1)) - back
        found = found[0] + moved, found[1] + moved
    return found


def in_text(mine: Array | None, theirs: Array | None, corner: str) -> Pair:
    """The places that queries and keys of these segments have in their texts.   (B, N), (B, M)

    corner: bottom-right has the last query and the last key of each text at one place.
    """
    assert mine is not None
    assert theirs is not None
    p, r = _ranks(mine), _ranks(theirs)
    if corner == "bottom-right":
        queries, keys = ((mine[:, :, None] == x[:, None, :]).sum(axis=-1) for x in (mine, theirs))
        p += keys - queries
    return p, r


def _ranks(x: Array) -> Array:
    """How many of the same text stand before each token.   (B, length)"""
    order, rows = np.argsort(x, axis=-1, kind="stable"), np.arange(x.shape[-1])
    texts = np.take_along_axis(x, order, -1)
    new = np.diff(texts, axis=-1, prepend=texts[:, :1] - 1) != 0
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, rows - np.maximum.accumulate(new * rows, axis=-1), -1)
    return ranks


def behind(chance: Chance, queries: int, keys: int) -> Pair:
    """Queries in a row, the first of them anywhere among the keys: a chunk, or the last ones."""
    start = keys - queries if chance.random() < 0.5 else chance.integers(keys + 1)
    return start + np.arange(queries), np.arange(keys)


def padded(chance: Chance, queries: int, keys: int) -> Pair:
    """Padding to the left stands before the text, at places below 0, or all of it at 0."""
    count = chance.integers(keys // 2 + 1)
    r = np.arange(keys) - count
    p = keys - queries - count + np.arange(queries)
    lowest = chance.choice((0, -keys - queries))
    return np.maximum(p, lowest), np.maximum(r, lowest)


def with_gaps(chance: Chance, queries: int, keys: int) -> Pair:
    """Some of the tokens are gone, and the others stay where they were."""
    among = 3 * max(queries, keys) // 2 + 1
    p, r = (np.sort(chance.choice(among, count, replace=False)) for count in (queries, keys))
    return p, r


def repeated(chance: Chance, queries: int, keys: int) -> Pair:
    """Several tokens at one place, as guesses are of what comes next."""
    p, r = (np.sort(chance.integers(0, keys // 2 + 2, count)) for count in (queries, keys))
    return p, r


def mixed(chance: Chance, queries: int, keys: int) -> Pair:
    """The tokens of a text in any order, as whoever shares it with others has them."""
    p, r = behind(chance, queries, keys)
    return chance.permutation(p), chance.permutation(r)


def dealt(chance: Chance, queries: int, keys: int) -> Pair:
    """Every second token, and then the others; queries are those of one of the two."""
    order = np.argsort(np.arange(keys) % 2, kind="stable")
    return 2 * np.arange(queries) + chance.integers(2), order


def anew(chance: Chance, queries: int, keys: int) -> Pair:
    """Several texts in a row, of which each counts from 0."""
    length = chance.integers(1, keys + 2)
    return np.arange(queries) % length, np.arange(keys) % length


def alike(_: Chance, queries: int, keys: int) -> Pair:
    """The numbers of the rows."""
    return np.arange(queries), np.arange(keys)


WAYS: Mapping[str, Callable[[Chance, int, int], Pair]] = {
    way.__name__: way for way in (behind, padded, with_gaps, repeated, mixed, dealt, anew, alike)
}
