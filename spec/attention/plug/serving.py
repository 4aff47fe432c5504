"""How functions that serve many texts at once have them: queries packed, and keys in pages.

Each sequence has some queries, packed one sequence after the other, and its keys lie in the pages
that a table names. The queries are a prompt's first part, its next, or one token of an answer, in
one call. If a function also accepts packed keys, it is called with them in problems without
pages.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from spec.attention.notation import Problem
from spec.attention.plug.packing import PACKING, STARTS, Packing, Shape, packed
from spec.attention.plug.paging import NEW, PAGING, Pages, Paging, paged
from spec.backends.library import Unsuitable
from spec.notation import Array


@dataclass(frozen=True, eq=False)
class Serving:
    """Where the tokens of a problem lie: the queries as `queries` has them, the keys as `keys`.

    told: the arguments other than q, k and v.
    """

    queries: Packing
    keys: Paging
    told: Mapping[str, Array | int]

    writes: ClassVar[bool] = False

    def shape(self, ours: Shape, like: str = "q") -> Shape:
        """The shape that an array of ours has; like: the input that it is shaped like, if any."""
        return self._side(like).shape(ours, like)

    def put(self, x: Array, like: str) -> Array:
        """An input, or a cotangent, as the function has it."""
        return self._side(like).put(x, like)

    def back(self, x: Array, ours: Shape, like: str = "q") -> Array:
        """An answer for each query as we have it. Raises Uncleared: rows of no text are not 0."""
        return self.queries.back(x, ours, like)

    def _side(self, like: str) -> Packing | Paging:
        return self.keys if like in ("k", "v") else self.queries


@lru_cache(maxsize=1)
def served(problem: Problem, pages: Pages) -> Serving:
    """Where the tokens of a problem lie. Raises Refused: not in pages."""
    queries, keys = packed(problem), paged(problem, pages)
    return Serving(queries, keys, {**queries.told, **keys.told})


def carried_of(name: str, options: dict[str, str]) -> Mapping[str, str]:
    """The arguments that give the positions of tokens, removed from the options.

    A function with packed queries may have keys in pages too. Raises Unsuitable: one is missing.
    """
    packing, paging = (
        {ours: options.pop(ours) for ours in names if ours in options}
        for names in (PACKING, PAGING)
    )
    in_pages = "block_table" in paging and {"cu_seqlens_k", "cache_seqlens"} & {*packing, *paging}
    if "cu_seqlens_q" in packing and in_pages:
        return packing | {x: paging[x] for x in ("cache_seqlens", "block_table") if x in paging}
    if len({*STARTS} & packing.keys()) == 1:
        raise Unsuitable(f"{name} takes only one of cu_seqlens_q and cu_seqlens_k")
    if "block_table" in paging and not packing and "cache_seqlens" not in paging:
        raise Unsuitable(f"{name} takes a block_table, but no number of keys (cache_seqlens)")
    if not {*NEW.values()} <= paging.keys():
        paging = {ours: own for ours, own in paging.items() if ours not in NEW.values()}
    return packing or paging
