"""A cache for decoding: it stores keys and values, and returns the output of each new token.

    k[t], v[t] <- the key and value of token t
    o_t = sum_(j <= t) a_tj v[j]        a_t the softmax of q_t . k[j] / sqrt(D) over j <= t

The keys of a sequence are in one array with room for more. The length of a sequence is a number,
and everything after it has no influence, whatever it contains. Removing tokens makes this number
smaller. A full array is copied into one of twice the length.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from implementations.arguments import accumulator, mixed, rounded, shared
from spec.notation import Array

SMALLEST = 8  # tokens that an array has room for at first


class Growing:
    """A cache that starts small and grows when necessary."""

    fewer_queries = True

    def __init__(
        self,
        batch: int,
        key_heads: int,
        width: int,
        value_width: int,
        dtype: np.dtype,
        capacity: int = SMALLEST,
    ) -> None:
        room = min(capacity, SMALLEST)
        self.k = np.zeros((batch, key_heads, room, width), dtype)
        self.v = np.zeros((batch, key_heads, room, value_width), dtype)
        self.lengths = np.zeros(batch, np.int64)

    def extend(self, query: Array, key: Array, value: Array, counts: Array | None = None) -> Array:
        """Append n tokens, key (B, G, n, D), and return the outputs of the first m of them.

        query: (B, H, m, D), m <= n. counts: how many of the n tokens each sequence has; the others
        are padding.   (B,)
        """
        before, n = self.lengths, key.shape[2]
        after = before + (n if counts is None else counts)
        self.k, self.v = roomier(self.k, int(after.max())), roomier(self.v, int(after.max()))
        sequence, token = np.nonzero(np.arange(n) < (after - before)[:, None])
        place = before[sequence] + token
        self.k[sequence, :, place] = key[sequence, :, token]
        self.v[sequence, :, place] = value[sequence, :, token]
        self.lengths = after
        return attended(query, self.k, self.v, before, after)

    def rollback(self, lengths: int | Array) -> None:
        """Keep only the first `lengths` tokens of each sequence."""
        self.lengths = np.zeros_like(self.lengths) + lengths

    def fork(self) -> Growing:
        """Return a second cache with the same content, in its own memory."""
        B, G, room, D = self.k.shape
        other = Growing(B, G, D, self.v.shape[-1], self.k.dtype, room)
        other.k, other.v, other.lengths = self.k.copy(), self.v.copy(), self.lengths.copy()
        return other


def fixed(
    batch: int, key_heads: int, capacity: int, width: int, value_width: int, dtype: np.dtype
) -> Growing:
    """Return a cache that has all its room from the beginning, and is never copied."""
    made = Growing(batch, key_heads, width, value_width, dtype)
    made.k, made.v = roomier(made.k, capacity), roomier(made.v, capacity)
    return made


def roomier(x: Array, length: int) -> Array:
    """Return x (B, G, room, width), or a copy with room for `length` and more."""
    room = x.shape[2]
    if length <= room:
        return x
    while room < length:
        room *= 2
    larger = np.zeros((*x.shape[:2], room, x.shape[3]), x.dtype)
    larger[:, :, : x.shape[2]] = x
    return larger


def attended(query: Array, k: Array, v: Array, before: Array, after: Array) -> Array:
    """Return the output of token i of each sequence over its keys up to before + i."""
    work, most = accumulator(query.dtype), int(after.max())
    group = query.shape[1] // k.shape[1]
    q = query.astype(work) * work.type(1 / sqrt(query.shape[-1]))
    k, v = (shared(x[:, :, :most].astype(work), group) for x in (k, v))
    last = before[:, None] + np.arange(query.shape[2])  # (B, n), the position of each token
    last = np.minimum(last, np.maximum(after - 1, 0)[:, None])  # padding attends to all keys
    seen = (np.arange(most) <= last[..., None])[:, None]  # (B, 1, n, most)
    with np.errstate(all="ignore"):  # memory after the end may hold any number
        s = np.where(seen, q @ k.swapaxes(-1, -2), -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    o = mixed(e, v, np.broadcast_to(seen, e.shape))
    return rounded(o / e.sum(axis=-1, keepdims=True), query.dtype)
