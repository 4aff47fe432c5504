"""How functions read keys from a cache: from the pages that a table names, or with room behind.

A function that decodes has queries (sequences, length, heads, width), and keys and values in pages
(pages, places, heads, width): key j of sequence b lies in page `block_table[b, j // places]`, at
place j mod places. Or each sequence has its keys in a row and room behind them, without a table.
`cache_seqlens` says how many keys a sequence has. All other space is NaN here: positions after the
last key, and pages that no table names. A function that takes new keys and values together with the
cache writes them after the last of each sequence, and nothing else, and reads them like the others.

Each sequence of a problem is one of these, or as many as it has texts (`texts`). Those with fewer
queries than another are padded with queries that nobody reads, on the side away from the corner.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from spec.attention import texts
from spec.attention.notation import Problem
from spec.attention.texts import Text
from spec.notation import Array
from spec.stream import Stream
from spec.subject import Refused

Shape = tuple[int, ...]
Places = tuple[Array, Array]

# Our name of what such a function is told, and what it calls it; first flash-attn's names.
PAGING: Mapping[str, tuple[str, ...]] = {
    "cache_seqlens": ("cache_seqlens", "seqused_k"),
    "block_table": ("block_table", "page_table"),
    "new_k": ("k", "k_new"),
    "new_v": ("v", "v_new"),
}
NEW: Mapping[str, str] = {"k": "new_k", "v": "new_v"}
USUAL = 3  # places in a page, where a problem does not say: nobody has so many built in
NOTHING = np.nan
NOBODY = -1  # no page
MOST = 4  # fewer pages are named by no table, and stand in one behind the last of a sequence


@dataclass(frozen=True)
class Pages:
    """The pages that a function takes.

    swapped: whether the length stands before the heads, among queries as in pages. places: of a
    page, whatever problems say. tables: with one, without, or either. adds: whether it takes new
    keys, and if it has to be given some, if only none. packed: whether its queries are.
    """

    swapped: bool
    places: int = 0
    tables: tuple[bool, ...] = (True, False)
    adds: tuple[bool, ...] = (False,)
    packed: bool = False


@dataclass(frozen=True, eq=False)
class Paging:
    """Where the tokens of a problem lie in the arrays of who reads from a cache.

    rows: of each query its sequence and its row there, two of (B, N). keys: of each key its page
    and its place there, two of (B, M). sizes: how many sequences and rows, pages and places there
    are. new: which keys are not in the cache, but to be written there (B, M). told: the
    arguments other than q, k and v.
    """

    rows: Places
    keys: Places
    sizes: tuple[tuple[int, int], tuple[int, int]]
    swapped: bool
    new: Array
    told: Mapping[str, Array | int]

    @property
    def writes(self) -> bool:
        """Whether anything is added to the cache."""
        return bool(self.new.any())

    def shape(self, ours: Shape, like: str = "q") -> Shape:
        """The shape that an array of ours has; like: the input that it is shaped like, if any."""
        count, length = self.sizes[like in ("k", "v")]
        heads, width = ours[1], ours[3:]
        if self.swapped and like:
            return (count, length, heads, *width)
        return (count, heads, length, *width)

    def put(self, x: Array, like: str) -> Array:
        """An input as the function has it."""
        if like in ("k", "v"):
            return self.filled(x, ~self.new)
        found = np.zeros((*self.sizes[0], *x.shape[1::2]), x.dtype)
        found[self.rows] = x.swapaxes(1, 2)
        return found if self.swapped else found.swapaxes(1, 2)

    def filled(self, x: Array, those: Array) -> Array:
        """A cache that holds those of the keys (B, M), and nothing else."""
        found = np.full((*self.sizes[1], *x.shape[1::2]), NOTHING, x.dtype)
        found[tuple(at[those] for at in self.keys)] = x.swapaxes(1, 2)[those]
        return found if self.swapped else found.swapaxes(1, 2)

    def back(self, x: Array, ours: Shape, like: str = "q") -> Array:
        """An answer for each query as we have it."""
        assert like not in ("k", "v")
        rows = x if self.swapped and like else x.swapaxes(1, 2)
        return rows[self.rows].swapaxes(1, 2).reshape(ours)


@lru_cache(maxsize=1)
def paged(problem: Problem, pages: Pages) -> Paging:
    """Where the tokens of a problem lie: its seed settles in which order. Raises Refused."""
    own, in_pages = texts.of(problem), bool(problem.page) or False not in pages.tables
    if in_pages not in pages.tables or (problem.added and True not in pages.adds):
        raise Refused("it takes no pages, or no new keys")
    lengths, count = np.array([len(text.k) for text in own], dtype=int), texts.added(problem)
    places = (pages.places or problem.page or USUAL) if in_pages else 0
    table, many, places = _table(problem, lengths, places)
    told: dict[str, Array | int] = {"cache_seqlens": lengths - count}
    if in_pages:
        told["block_table"] = table
    if count or False not in pages.adds:
        told |= {NEW[x]: _added(getattr(problem, x), own, count, pages.swapped) for x in NEW}
    longest = max((len(text.q) for text in own), default=0)
    nowhere = np.zeros((2, 0), dtype=int)
    rows = (nowhere[0], nowhere[1]) if pages.packed else _rows(problem, own, longest)
    sizes = (len(own), longest), (many, places)
    keys = _keys(problem, own, table, places)
    return Paging(rows, keys, sizes, pages.swapped, _new(problem, own, count), told)


def _new(problem: Problem, own: list[Text], count: int) -> Array:
    """Which keys are new: the last ones of each text.   (B, M)"""
    found = np.zeros((problem.B, problem.M), dtype=bool)
    for text in own:
        found[text.sequence, text.k[len(text.k) - count :]] = True
    return found


def _added(x: Array, own: list[Text], count: int, swapped: bool) -> Array:
    """The new keys or values of each text.   (texts, count, G, width) if swapped"""
    rows = [x[text.sequence][:, text.k[len(text.k) - count :]] for text in own]
    found = np.array(rows).reshape(len(own), x.shape[1], count, x.shape[3])
    return found.swapaxes(1, 2) if swapped else found


def _table(problem: Problem, lengths: Array, places: int) -> tuple[Array, int, int]:
    """The pages of each sequence in any order, how many there are of all, and the places of one.

    Behind the last page of a sequence the table names any, or none; who is alike has the same.
    Without pages (places: 0), each sequence has one of its own, with room.
    """
    chance = Stream(problem.seed, 2)
    if not places:
        room = int(lengths.max(initial=0) + chance.randrange(1, MOST))
        return np.arange(len(lengths))[:, None], len(lengths), room
    wanted = -(-lengths // places)
    many = int(wanted.sum() + chance.randrange(1, MOST))
    width = wanted.max(initial=0) + chance.below(MOST)
    table = chance.integers(NOBODY, many, (len(wanted), width))
    table[np.arange(width) < wanted[:, None]] = chance.permutation(many)[: wanted.sum()]
    if not problem.added and _alike(problem):
        table = np.tile(table[:1], (len(wanted), 1))
    return table, many, places


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
