"""A paged cache: tokens are in pages of a common pool, and a table lists the pages.

    token t of a sequence is in page table[t // SIZE], at slot t % SIZE

Pages are allocated in any order and need not be contiguous (Kwon et al. 2023, section 4.1).
Branches share the pages of their common past. A shared page is copied before it is written to,
which can only happen to the last page of a sequence. A page is free again when no table holds it
(section 4.4).

Attention reads page after page with a one-pass softmax. Its state is the largest score so far, the
sum of exponentials, and the output before the division.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from implementations.arguments import accumulator, mixed, rounded, shared
from spec.notation import Array

SIZE = 4  # tokens in a page


class Pool:
    """Pages of keys and values, and the number of tables that hold each."""

    def __init__(self, pages: int, heads: int, width: int, value_width: int, dtype: np.dtype):
        self.k = np.zeros((pages, heads, SIZE, width), dtype)
        self.v = np.zeros((pages, heads, SIZE, value_width), dtype)
        self.holders = np.zeros(pages, np.int64)

    def taken(self) -> int:
        """Return a free page, the last one first; double the pool if there is none."""
        free = np.flatnonzero(self.holders == 0)
        if not free.size:
            self.k, self.v = (np.concatenate([x, np.zeros_like(x)]) for x in (self.k, self.v))
            self.holders = np.concatenate([self.holders, np.zeros_like(self.holders)])
            return self.taken()
        self.holders[free[-1]] = 1
        return int(free[-1])

    def own(self, page: int) -> int:
        """Return `page`, or a copy of it if another table holds it as well."""
        if self.holders[page] == 1:
            return page
        copy = self.taken()
        self.k[copy], self.v[copy] = self.k[page], self.v[page]
        self.holders[page] -= 1
        return copy


class Paged:
    """A batch of sequences, each with a table of pages and a length."""

    def __init__(
        self, batch: int, key_heads: int, width: int, value_width: int, dtype: np.dtype
    ) -> None:
        self.pool = Pool(batch + 1, key_heads, width, value_width, dtype)
        self.tables: list[list[int]] = [[] for _ in range(batch)]
        self.lengths = [0] * batch

    def extend(self, query: Array, key: Array, value: Array, counts: Array | None = None) -> Array:
        """Append n tokens and return their outputs: query (B, H, n, D) to (B, H, n, E).

        counts: how many of the n tokens each sequence has; the others are padding.   (B,)
        """
        o = np.zeros((*query.shape[:3], value.shape[-1]), query.dtype)
        for b, first in enumerate(self.lengths):
            n = query.shape[2] if counts is None else int(counts[b])
            for i in range(n):
                self.write(b, first + i, key[b, :, i], value[b, :, i])
            self.lengths[b] = first + n
            o[b, :, :n] = self.attended(b, query[b, :, :n], first)
        return o

    def write(self, b: int, place: int, key: Array, value: Array) -> None:
        """Write one token to its page and slot; the page belongs to this sequence only."""
        table = self.tables[b]
        if place // SIZE == len(table):
            table.append(self.pool.taken())
        page = table[place // SIZE] = self.pool.own(table[place // SIZE])
        self.pool.k[page, :, place % SIZE] = key
        self.pool.v[page, :, place % SIZE] = value

    def attended(self, b: int, query: Array, first: int) -> Array:
        """Return the output of n tokens, query (H, n, D); the first has the position `first`."""
        (H, n, D), work = query.shape, accumulator(query.dtype)
        q = query.astype(work) * work.type(1 / sqrt(D))
        group, own = H // self.pool.k.shape[1], first + np.arange(n)[:, None]
        top, total = np.full((H, n, 1), -np.inf, work), np.zeros((H, n, 1), work)
        o = np.zeros((H, n, self.pool.v.shape[-1]), work)
        for number, page in enumerate(self.tables[b]):
            k, v = (
                shared(x[page][None], group)[0].astype(work) for x in (self.pool.k, self.pool.v)
            )
            seen = np.broadcast_to(number * SIZE + np.arange(SIZE) <= own, (H, n, SIZE))
            with np.errstate(all="ignore"):  # memory after the end may hold any number
                s = np.where(seen, q @ k.swapaxes(-1, -2), -np.inf)
            higher = np.maximum(top, s.max(axis=-1, keepdims=True))
            fade, e = np.exp(top - higher), np.exp(s - higher)
            total = total * fade + e.sum(axis=-1, keepdims=True)
            o = o * fade + mixed(e, v, seen)
            top = higher
        return rounded(o / total, query.dtype)

    def rollback(self, lengths: int | Array) -> None:
        """Keep only the first `lengths` tokens of each sequence, and release pages."""
        for b, length in enumerate(np.broadcast_to(lengths, len(self.lengths)).tolist()):
            pages = -(-length // SIZE)
            for page in self.tables[b][pages:]:
                self.pool.holders[page] -= 1
            self.tables[b], self.lengths[b] = self.tables[b][:pages], length

    def fork(self) -> Paged:
        """Return a second cache with the same content, on the same pages."""
        G, width = self.pool.k.shape[1], self.pool.k.shape[-1]
        other = Paged(0, G, width, self.pool.v.shape[-1], self.pool.k.dtype)
        other.pool, other.lengths = self.pool, list(self.lengths)
        other.tables = [list(table) for table in self.tables]
        for table in other.tables:
            self.pool.holders[table] += 1
        return other
