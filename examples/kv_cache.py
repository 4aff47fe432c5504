"""A KV cache for decoding, with rollback and fork.

    attention-spec certify examples/kv_cache.py:Cache --profile quick

Expect "Cache: certified". The tool feeds it sequences in chunks of many sizes, rolls tokens back,
forks it, and compares every answer with causal attention over the whole sequence.
"""

import numpy as np


class Cache:
    """Keys (B, G, n, D) and values (B, G, n, E) of the tokens so far."""

    def __init__(self, batch, key_heads, width, value_width, dtype):
        self.k = np.zeros((batch, key_heads, 0, width), dtype)
        self.v = np.zeros((batch, key_heads, 0, value_width), dtype)

    def extend(self, query, key, value):
        """Append n tokens and answer them: query (B, H, n, D) -> (B, H, n, E)."""
        past = self.k.shape[2]
        self.k = np.concatenate([self.k, key], axis=2)
        self.v = np.concatenate([self.v, value], axis=2)
        group = query.shape[1] // key.shape[1]
        k, v = self.k.repeat(group, axis=1), self.v.repeat(group, axis=1)
        scores = query @ np.swapaxes(k, -1, -2) / np.sqrt(query.shape[-1], dtype=query.dtype)
        visible = np.tri(*scores.shape[-2:], k=past, dtype=bool)
        scores = np.where(visible, scores, -np.inf).astype(query.dtype)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True) @ v

    def rollback(self, lengths):
        """Keep only the first tokens; `lengths` is one number for all sequences."""
        self.k, self.v = self.k[:, :, :lengths].copy(), self.v[:, :, :lengths].copy()

    def fork(self):
        """A second cache with the same past, in its own memory."""
        other = object.__new__(Cache)
        other.k, other.v = self.k.copy(), self.v.copy()
        return other
