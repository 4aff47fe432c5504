"""A cache with a sliding window: keys are in a ring buffer, which overwrites invisible ones.

    token t is in slot t mod W, until token t + W comes

Outputs of a chunk are computed before its keys are written. Its first token may attend to W - 1
earlier keys, which the chunk would overwrite. So a chunk attends to the ring as it was, and to its
own keys.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from implementations.arguments import accumulator, mixed, rounded, shared
from spec.notation import Array


class Rolling:
    """A batch of sequences of equal length; each token may attend to the last `window` keys."""

    def __init__(
        self,
        batch: int,
        key_heads: int,
        capacity: int,
        width: int,
        value_width: int,
        dtype: np.dtype,
        window: int | None = None,
    ) -> None:
        self.window = capacity if window is None else window
        self.k = np.zeros((batch, key_heads, self.window, width), dtype)
        self.v = np.zeros((batch, key_heads, self.window, value_width), dtype)
        self.tokens = np.full(self.window, -1)  # the token in each slot, -1 for none
        self.length = 0

    def extend(self, query: Array, key: Array, value: Array) -> Array:
        """Append n tokens and return their outputs: query (B, H, n, D) to (B, H, n, E)."""
        own = self.length + np.arange(query.shape[2])
        k, v = (np.concatenate(x, axis=2) for x in ((self.k, key), (self.v, value)))
        tokens = np.concatenate([self.tokens, own])
        behind = own[:, None] - tokens
        seen = (tokens >= 0) & (behind >= 0) & (behind < self.window)
        o = attended(query, k, v, seen)
        last = own[-self.window :]
        self.k[:, :, last % self.window] = key[:, :, -self.window :]
        self.v[:, :, last % self.window] = value[:, :, -self.window :]
        self.tokens[last % self.window] = last
        self.length += len(own)
        return o


def attended(query: Array, k: Array, v: Array, seen: Array) -> Array:
    """Return the output of each query over its visible keys.   seen: (n, keys)"""
    work, group = accumulator(query.dtype), query.shape[1] // k.shape[1]
    q = query.astype(work) * work.type(1 / sqrt(query.shape[-1]))
    k, v = (shared(x.astype(work), group) for x in (k, v))
    s = np.where(seen, q @ k.swapaxes(-1, -2), -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    o = mixed(e, v, np.broadcast_to(seen, e.shape))
    return rounded(o / e.sum(axis=-1, keepdims=True), query.dtype)
