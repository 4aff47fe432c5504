"""How functions have many texts in one array: packed, their tokens one after the other.

A packed function has arrays (tokens, heads, width) in the place of (B, H, length, width), and takes
the start of each sequence, and the end of the last one, as cumulative lengths. Each sequence of a
problem is one text, or as many as it has segments: some have queries alone, or keys alone. So has
padding: that among the queries is a text without keys, and that among the keys one without queries.
Behind the last text there may be tokens of none, among the keys no numbers; then the given
length of the longest one is larger than the actual one. The results in their rows are zero, unless
it is declared that nothing is written there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from spec.attention import texts
from spec.attention.notation import Problem
from spec.comparison import Place, Violation
from spec.notation import Array

Shape = tuple[int, ...]

# Our name of what a packed function is told, and what it calls it; first flash-attn's names.
PACKING: Mapping[str, tuple[str, ...]] = {
    "cu_seqlens_q": ("cu_seqlens_q", "cu_seq_q"),
    "cu_seqlens_k": ("cu_seqlens_k", "cu_seqlens_kv", "cu_seq_k"),
    "max_seqlen_q": ("max_seqlen_q", "max_q"),
    "max_seqlen_k": ("max_seqlen_k", "max_seqlen_kv", "max_k"),
}
STARTS = ("cu_seqlens_q", "cu_seqlens_k")
# What such functions choose, as flash-attn does: each text has places, and a corner, of its own.
CHOICES: Mapping[str, str] = {"causal": "bottom-right", "positions": "in-sequence"}


class Uncleared(Violation):
    """Padding rows of an array that a function returned are not zero."""

    def __init__(self, behind: Array) -> None:
        index = tuple(int(i) for i in np.argwhere(behind)[0])
        place, zeros = Place(index, float(behind[index]), 0.0, 0.0), np.zeros_like(behind)
        got = f"got {place.got:.9g} behind the last text"
        told = f"rows of no text are not zero: {got}, at {index}"
        super().__init__(told, place, (behind, zeros, zeros))


@dataclass(frozen=True, eq=False)
class Packing:
    """Where the tokens of a problem lie in packed arrays.

    tokens: of queries ("q") and of keys ("k"), the place of each among (B, length).
    told: by the names above, where each text starts, and the end (texts + 1); and the length of
    the longest one. lengths: (B, length) of either side. spare: tokens of no text at the end.
    untouched: their rows in a result may hold anything.
    """

    tokens: Mapping[str, Array]
    told: Mapping[str, Array | int]
    lengths: Mapping[str, tuple[int, int]]
    spare: int
    untouched: bool

    writes: ClassVar[bool] = False

    def shape(self, ours: Shape, like: str = "q") -> Shape:
        """The shape that an array of ours has; like: the input that it is shaped like, if any."""
        tokens = len(self._of(like)) + self.spare
        return (tokens, ours[1], *ours[3:]) if like else (ours[1], tokens)

    def put(self, x: Array, like: str) -> Array:
        """An input, or a cotangent, packed: (tokens, heads, width), or (heads, tokens)."""
        rows = x.swapaxes(1, 2)
        B, length, *rest = rows.shape
        behind = np.full((self.spare, *rest), np.nan if like in ("k", "v") else 0.0, x.dtype)
        whole = np.concatenate([rows.reshape(B * length, *rest)[self._of(like)], behind])
        return whole if like else whole.swapaxes(0, 1)

    def back(self, x: Array, ours: Shape, like: str = "q") -> Array:
        """An array of the function as we have it. Raises Uncleared: rows of no text are not 0."""
        B, heads, length, *width = ours
        rows = np.empty((B * length, heads, *width), x.dtype)
        own = self._of(like)
        behind = x[len(own) :]
        if like and not self.untouched and behind.any():
            raise Uncleared(behind)
        rows[own] = (x if like else x.swapaxes(0, 1))[: len(own)]
        return rows.reshape(B, length, heads, *width).swapaxes(1, 2)

    def _of(self, like: str) -> Array:
        """The tokens of keys for what is shaped like these, else those of queries."""
        return self.tokens["k" if like in ("k", "v") else "q"]


@lru_cache(maxsize=1)
def packed(problem: Problem) -> Packing:
    """Where the tokens of a problem lie: sequence by sequence, and text by text in each."""
    lengths = {"q": (problem.B, problem.N), "k": (problem.B, problem.M)}
    tokens, told = dict[str, Array](), dict[str, Array | int]()
    for side, (_, length) in lengths.items():
        found = [text.sequence * length + getattr(text, side) for text in texts.of(problem)]
        tokens[side] = np.concatenate([np.zeros(0, int), *found])
        told[f"cu_seqlens_{side}"] = np.cumsum([0, *map(len, found)])
        told[f"max_seqlen_{side}"] = max(map(len, found), default=0) + problem.spare
    return Packing(tokens, told, lengths, problem.spare, problem.untouched)
