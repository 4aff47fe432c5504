"""A KV cache for decoding in NumPy, with rollback and fork.

    attention-spec certify examples/kv_cache.py:Cache --profile quick

Expect "Cache: certified (quick)" and exit code 0 after about 10 seconds. A class with a method
`extend` is tested as a cache: the tool feeds it sequences in chunks of many sizes, rolls tokens
back, forks it, and compares every output with causal attention over the whole sequence.

`rollback` and `fork` are optional. A parameter `counts` of `extend` (sequences of different
lengths) and `window` of the constructor (a sliding window) are not here, so they are not tested.
To see a failure, remove `k=past, ` and run the command again.
"""

import numpy as np


class Cache:
    """The keys (B, G, n, D) and values (B, G, n, E) of the n tokens read so far."""

    def __init__(self, batch, key_heads, width, value_width, dtype):
        self.k = np.zeros((batch, key_heads, 0, width), dtype)
        self.v = np.zeros((batch, key_heads, 0, value_width), dtype)

    def extend(self, query, key, value):
        """Append tokens, and return the output (B, H, n, E) for their queries (B, H, n, D)."""
        past = self.k.shape[2]
        self.k = np.concatenate([self.k, key], axis=2)
        self.v = np.concatenate([self.v, value], axis=2)
        group = query.shape[1] // key.shape[1]  # query heads for each key head
        dtype = np.promote_types(query.dtype, np.float32)  # sums in float16 would lose digits
        k, v = (x.astype(dtype).repeat(group, axis=1) for x in (self.k, self.v))
        scores = query.astype(dtype) @ np.swapaxes(k, -1, -2) * query.shape[-1] ** -0.5
        visible = np.tri(*scores.shape[-2:], k=past, dtype=bool)
        scores = np.where(visible, scores, -np.inf)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return (e / e.sum(-1, keepdims=True) @ v).astype(query.dtype)

    def rollback(self, lengths):
        """Keep only the first tokens; `lengths` is one number for all sequences."""
        self.k, self.v = self.k[:, :, :lengths].copy(), self.v[:, :, :lengths].copy()

    def fork(self):
        """Return a second cache with the same tokens, in its own memory."""
        other = object.__new__(type(self))
        other.k, other.v = self.k.copy(), self.v.copy()
        return other
