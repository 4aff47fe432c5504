"""A cache of torch that attends with torch's function, and loses a key in its third step."""

import torch
from torch.nn.functional import scaled_dot_product_attention


class Cache:
    """Stores keys and values in buffers; the third step overwrites the last row of the second."""

    def __init__(self, batch, key_heads, width, capacity, dtype):
        self.k = torch.zeros(batch, key_heads, capacity, width, dtype=dtype)
        self.v = torch.zeros(batch, key_heads, capacity, width, dtype=dtype)
        self.length = self.steps = 0

    def extend(self, query, key, value):
        """Store the new rows, and return the output of their queries."""
        start, self.length = self.length, self.length + key.shape[2]
        self.steps += 1
        if self.steps == 3:
            start = max(start - 1, 0)
        self.k[:, :, start : start + key.shape[2]] = key
        self.v[:, :, start : start + key.shape[2]] = value
        k, v, n = self.k[:, :, : self.length], self.v[:, :, : self.length], query.shape[2]
        visible = torch.ones(n, self.length, dtype=torch.bool).tril(self.length - n)
        return scaled_dot_product_attention(query, k, v, visible, enable_gqa=True)
