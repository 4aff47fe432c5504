"""Caches for decoding in torch: one that writes in place, and one that concatenates.

`Static` keeps keys and values in arrays of a fixed size, as compiled code needs them, and masks
unused slots. `Joined` makes a new cache from the old one and the new tokens, so that all earlier
states stay valid, and a fork costs nothing. Both call `scaled_dot_product_attention`. Its causal
diagonal is aligned top-left, which is wrong for a chunk with a past, so they pass a mask.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention


class Static:
    """A cache that has all its room from the beginning; sequences may differ in length."""

    def __init__(
        self,
        batch: int,
        key_heads: int,
        capacity: int,
        width: int,
        value_width: int,
        dtype: torch.dtype,
        device: str = "cpu",
    ) -> None:
        self.k = torch.zeros(batch, key_heads, capacity, width, dtype=dtype, device=device)
        self.v = torch.zeros(batch, key_heads, capacity, value_width, dtype=dtype, device=device)
        self.lengths = torch.zeros(batch, dtype=torch.long, device=device)

    def extend(
        self, query: Tensor, key: Tensor, value: Tensor, counts: Tensor | None = None
    ) -> Tensor:
        """Append n tokens and return their outputs: query (B, H, n, D) to (B, H, n, E).

        counts: how many of the n tokens each sequence has; the others are padding.   (B,)
        """
        places = torch.arange(query.shape[2], device=query.device)
        after = self.lengths + (query.shape[2] if counts is None else counts)
        last = self.lengths[:, None] + places  # (B, n), the position of each token
        sequence, token = torch.nonzero(last < after[:, None], as_tuple=True)
        place = last[sequence, token]
        self.k[sequence, :, place] = key[sequence, :, token]
        self.v[sequence, :, place] = value[sequence, :, token]
        self.lengths = after
        seen = torch.arange(self.k.shape[2], device=query.device) <= last[..., None]
        return attended(query, self.k, self.v, seen[:, None])

    def rollback(self, lengths: int | Tensor) -> None:
        """Keep only the first `lengths` tokens of each sequence.

        Removed tokens are set to zero: attention multiplies them by zero, and NaN would remain.
        """
        self.lengths = torch.zeros_like(self.lengths) + lengths
        gone = torch.arange(self.k.shape[2], device=self.k.device) >= self.lengths[:, None]
        for x in (self.k, self.v):
            x.masked_fill_(gone[:, None, :, None], 0)

    def fork(self) -> Static:
        """Return a second cache with the same content, in its own memory."""
        B, G, capacity, D = self.k.shape
        other = Static(B, G, capacity, D, self.v.shape[-1], self.k.dtype, str(self.k.device))
        other.k, other.v = self.k.clone(), self.v.clone()
        other.lengths = self.lengths.clone()
        return other


class Joined:
    """A cache that is never changed; all sequences have the same length."""

    persistent = True

    def __init__(self, read: tuple[Tensor, Tensor] | None = None) -> None:
        self.read = read

    def extend(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Joined]:
        """Return the outputs of n tokens, query (B, H, n, D) to (B, H, n, E), and the new cache."""
        before = self.read or (key[:, :, :0], value[:, :, :0])
        k, v = torch.cat([before[0], key], dim=2), torch.cat([before[1], value], dim=2)
        n, length = query.shape[2], k.shape[2]
        seen = torch.ones(n, length, dtype=torch.bool, device=k.device).tril(length - n)
        return attended(query, k, v, seen), Joined((k, v))

    def rollback(self, lengths: int) -> Joined:
        """Return the cache of the first `lengths` tokens only."""
        if self.read is None:
            return self
        k, v = self.read
        return Joined((k[:, :, :lengths], v[:, :, :lengths]))

    def fork(self) -> Joined:
        """Return the cache itself, because nothing changes it."""
        return self


def attended(query: Tensor, k: Tensor, v: Tensor, seen: Tensor) -> Tensor:
    """Return the output of each query over its visible keys, with key heads repeated for groups."""
    group = query.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(group, dim=1) for x in (k, v))
    return scaled_dot_product_attention(query, k, v, attn_mask=seen)
