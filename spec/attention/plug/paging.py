"""How functions read keys from a cache: from the pages that a table names, or with room behind.

A function that decodes has queries (sequences, length, heads, width), and keys and values in pages
(pages, places, heads, width): key j of sequence b lies in page `block_table[b, j // places]`, at
place j mod places. Or each sequence has its keys in a row and room behind them, without a table.
`cache_seqlens` says how many keys a sequence has. What lies elsewhere is nothing, and no number
here: places behind the last key, and pages that no table names.

Each sequence of a problem is one of these, or as many as it has texts (`packing`). Those with fewer
queries than another have others beside them that nobody reads, on the side away from the corner.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from spec.attention.notation import Problem
from spec.attention.plug.packing import Text, texts
from spec.notation import Array
from spec.subject import Refused

Shape = tuple[int, ...]
Places = tuple[Array, Array]

# Our name of what such a function is told, and what it calls it; first flash-attn's names.
PAGING: Mapping[str, tuple[str, ...]] = {
    "cache_seqlens": ("cache_seqlens",),
    "block_table": ("block_table", "page_table"),
}
SIZES = (3, 1, 2, 4, 7, 16)  # places in a page; the first one nobody has built in
NOTHING = np.nan
NOBODY = -1  # no page
MOST = 4  # fewer pages are named by no table, and stand in one behind the last of a sequence


@dataclass(frozen=True)
class Pages:
    """What a function takes.

    swapped: whether the length stands before the heads, among queries as in pages. sizes: of
    pages, which problems have in turn. tables: with one, without, or either.
    """

    swapped: bool
    sizes: tuple[int, ...] = SIZES
    tables: tuple[bool, ...] = (True, False)


@dataclass(frozen=True, eq=False)
class Paging:
    """Where the tokens of a problem lie in the arrays of who reads from a cache.

    rows: of each query its sequence and its row there, two of (B, N). keys: of each key its page
    and its place there, two of (B, M). sizes: how many sequences and rows, pages and places there
    are. told: what is said beside q, k and v.
    """

    rows: Places
    keys: Places
    sizes: tuple[tuple[int, int], tuple[int, int]]
    swapped: bool
    told: Mapping[str, Array | int]

    def shape(self, ours: Shape, like: str = "q") -> Shape:
        """The shape that an array of ours has; like: the input that it is shaped like, if any."""
        count, length = self.sizes[like in ("k", "v")]
        heads, width = ours[1], ours[3:]
        if self.swapped and like:
            return (count, length, heads, *width)
        return (count, heads, length, *width)

    def put(self, x: Array, like: str) -> Array:
        """An input as the function has it."""
        keys = like in ("k", "v")
        shape = (*self.sizes[keys], *x.shape[1::2])
        found = np.full(shape, NOTHING if keys else 0.0, x.dtype)
        found[self.keys if keys else self.rows] = x.swapaxes(1, 2)
        return found if self.swapped else found.swapaxes(1, 2)

    def back(self, x: Array, ours: Shape, like: str = "q") -> Array:
        """An answer for each query as we have it."""
        assert like not in ("k", "v")
        rows = x if self.swapped and like else x.swapaxes(1, 2)
        return rows[self.rows].swapaxes(1, 2).reshape(ours)

    def unpacked(self, text: str, like: str = "q") -> str:
        """The source of an answer as we have it, from that of the function's, in NumPy."""
        rows = text if self.swapped and like else f"{text}.swapaxes(1, 2)"
        sequence, row = (x.tolist() for x in self.rows)
        return f"{rows}[{sequence}, {row}].swapaxes(1, 2)"


@lru_cache(maxsize=1)
def paged(problem: Problem, pages: Pages) -> Paging:
    """Where the tokens of a problem lie: its seed settles in which pages. Raises Refused."""
    chance, own = np.random.default_rng(problem.seed), texts(problem)
    lengths = np.array([len(text.k) for text in own], dtype=int)
    told: dict[str, Array | int] = {"cache_seqlens": lengths}
    another, number = divmod(problem.seed, len(pages.sizes))
    if pages.tables[another % len(pages.tables)]:
        places = pages.sizes[number]
        table, count = _table(chance, -(-lengths // places))
        if _alike(problem):
            table = np.tile(table[:1], (len(own), 1))
        told["block_table"] = table
    else:  # as if each sequence had one page of its own
        places = int(lengths.max(initial=0) + chance.integers(1, MOST))
        table, count = np.arange(len(own))[:, None], len(own)
    longest = max((len(text.q) for text in own), default=0)
    sizes = (len(own), longest), (count, places)
    return Paging(
        _rows(problem, own, longest), _keys(problem, own, table, places), sizes, pages.swapped, told
    )


def _table(chance: np.random.Generator, wanted: Array) -> tuple[Array, int]:
    """The pages of each sequence, so many and in any order, and how many pages there are.

    Behind the last one it names any page, or none.
    """
    count = int(wanted.sum() + chance.integers(1, MOST))
    width = wanted.max(initial=0) + chance.integers(MOST)
    table = chance.integers(NOBODY, count, (len(wanted), width))
    table[np.arange(width) < wanted[:, None]] = chance.permutation(count)[: wanted.sum()]
    return table, count


def _alike(problem: Problem) -> bool:
    """Whether all sequences have the same keys, so that one may read the pages of another."""
    if problem.query_segments is not None:
        return False
    return all(bool((x == x[:1]).all()) for x in (problem.k, problem.v))


def _rows(problem: Problem, own: list[Text], longest: int) -> Places:
    """The sequence and the row of each query, the last row being the last query at that corner.

    Raises Refused: some have fewer queries, and causality and the like have other corners.
    """
    corners = {problem.corner, *filter(None, (problem.window_corner, problem.slopes_corner))}
    behind = problem.corner == "bottom-right"
    found = np.zeros((2, problem.B, problem.N), dtype=int)
    for number, text in enumerate(own):
        idle = longest - len(text.q)
        if idle and len(corners) > 1:
            raise Refused("texts with fewer queries than others have rows at one corner alone")
        found[0, text.sequence, text.q] = number
        found[1, text.sequence, text.q] = np.arange(len(text.q)) + idle * behind
    return found[0], found[1]


def _keys(problem: Problem, own: list[Text], table: Array, places: int) -> Places:
    """The page and the place of each key."""
    found = np.zeros((2, problem.B, problem.M), dtype=int)
    for text, named in zip(own, table, strict=True):
        number = np.arange(len(text.k))
        found[0, text.sequence, text.k] = named[number // places]
        found[1, text.sequence, text.k] = number % places
    return found[0], found[1]
