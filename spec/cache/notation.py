"""The vocabulary of caches: texts, steps, problems.

Axes, in addition to those of attention
    N tokens of the text that is read       M tokens of another text
    T steps, in which tokens arrive

A token is one query, one key and one value at one place of a text. A *chunk* holds the
tokens that arrive in one step, and a cache answers it at once: query i of the chunk sees
every key so far and, of its own chunk, the keys up to its own.

Sequences of a batch may have lengths of their own, and may get different numbers of tokens
in a step, or none. A chunk is as long as the longest share in it; what is beyond the share
of a sequence is *padding*, which belongs to no text, and whose answers nobody reads.

A step may ask for its first tokens alone: then a chunk has fewer queries than keys, and keys
that lie ahead of all of them, which later steps see.

A second text goes with every problem: what is taken back, what another branch goes on
with, or what was read before.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from spec.notation import Array, Length, Posed, once


class Text(NamedTuple):
    """Tokens in their order: q (B, H, N, D), k (B, G, N, D), v (B, G, N, E)."""

    q: Array
    k: Array
    v: Array

    @property
    def length(self) -> int:
        """How many tokens it has."""
        return int(self.q.shape[2])


class Chunk(NamedTuple):
    """The tokens that arrive in one step: q (B, H, n or less, D), k (B, G, n, D), v (B, G, n, E).

    counts: how many of the n tokens each sequence gets; the others are padding.   (B,)
    Where there are fewer queries than n, they are those of the first tokens.
    """

    q: Array
    k: Array
    v: Array
    counts: Array

    @property
    def even(self) -> bool:
        """Whether there is no padding."""
        return bool((self.counts == self.k.shape[2]).all())


@dataclass(frozen=True, eq=False)
class Problem(Posed):
    """A text to be read, how it arrives, and another text.

    q: (B, H, N, D)   k: (B, G, N, D)   v: (B, G, N, E)   and q_other, k_other, v_other alike,
        with M tokens.
    arrivals: how many tokens of each sequence are to arrive in each step; no more than are
        left do, and what is left after the last step arrives in one step more.   (T, B)
    lengths: how many of the N tokens are the text of each sequence.   (B,)
    window: how many keys a token sees, its own and those right before it; None: all so far.
    full: whether the cache has room for this text alone.
    """

    q: Array
    k: Array
    v: Array
    q_other: Array
    k_other: Array
    v_other: Array
    arrivals: Array
    lengths: Array
    window: int | None = None
    full: bool = False

    axes: ClassVar[Mapping[str, str]] = {
        "q": "B H N D",
        "k": "B G N D",
        "v": "B G N E",
        "q_other": "B H M D",
        "k_other": "B G M D",
        "v_other": "B G M E",
        "arrivals": "T B",
        "lengths": "B",
    }

    B = Length("q", 0)
    H = Length("q", 1)
    G = Length("k", 1)
    N = Length("q", 2)
    M = Length("q_other", 2)
    D = Length("q", 3)
    E = Length("v", 3)

    @property
    def capacity(self) -> int:
        """Room for whatever a clause does: both texts, one after the other; or for the text."""
        return self.N if self.full else self.N + self.M

    @property
    def text(self) -> Text:
        """The text that is read."""
        return Text(self.q, self.k, self.v)

    @property
    def other(self) -> Text:
        """The other text, all of it in every sequence."""
        return Text(self.q_other, self.k_other, self.v_other)

    @once
    def ends(self) -> Array:
        """The length of each sequence, once no token is left over for it.   (B,)"""
        return np.clip(self.lengths, 0, self.N).astype(int)

    @once
    def real(self) -> Array:
        """True where a place of the text holds a token, in the shape of the output.

        (B, 1, N, 1)
        """
        return np.asarray(np.arange(self.N) < self.ends[:, None])[:, None, :, None]

    def steps(self, start: Array, stop: Array) -> Array:
        """How many tokens arrive in each step on the way from `start` to `stop`.   (steps, B)"""
        after = np.cumsum(np.maximum(self.arrivals, 0), axis=0).astype(int)
        places = np.clip(np.vstack([start[None], after, stop[None]]), start, stop)
        counts = np.diff(places, axis=0)
        return np.asarray(counts[counts.any(axis=1)])

    @property
    def even(self) -> bool:
        """Whether all sequences are as long, and get as many tokens in every step."""
        steps = self.steps(0 * self.ends, self.ends)
        return bool((steps == steps[:, :1]).all())

    def place(self) -> Array:
        """A place in each sequence, before its first token, between two or after its last.

        (B,)
        """
        return np.floor(self.chance().random() * (self.ends + 1)).astype(int)
