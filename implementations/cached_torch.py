"""Decoding with a cache in torch, in two ways: in place, and by joining.

`Static` keeps keys and values in arrays that are made once, as compiled code wants them,
and hides what is not read by a mask. `Joined` makes a new cache out of the old one and the
new tokens, so that every earlier state stays what it was, and a fork costs nothing.
Both leave attention to `scaled_dot_product_attention`, whose causal flag has its diagonal in
the top-left corner, and so is of no use to a chunk that has a past: the mask is written out.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention


class Static:
    """A cache with all its room from the beginning; the sequences may differ in length."""

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
        """Read n tokens and answer them: query (B, H, n, D) to (B, H, n, E).

        counts: how many of the n tokens each sequence has; the others are padding.   (B,)
        """
        places = torch.arange(query.shape[2], device=query.device)
        after = self.lengths + (query.shape[2] if counts is None else counts)
        last = self.lengths[:, None] + places  # (B, n), the place of each token itself
        sequence, token = torch.nonzero(last < after[:, None], as_tuple=True)
        place = last[sequence, token]
        self.k[sequence, :, place] = key[sequence, :, token]
        self.v[sequence, :, place] = value[sequence, :, token]
        self.lengths = after
        seen = torch.arange(self.k.shape[2], device=query.device) <= last[..., None]
        return attended(query, self.k, self.v, seen[:, None])

    def rollback(self, lengths: int | Tensor) -> None:
        """Forget all but the first tokens, so many of each sequence.

        What goes is cleared: attention multiplies it by zero, and that does not hide NaN.
        """
        self.lengths = torch.zeros_like(self.lengths) + lengths
        gone = torch.arange(self.k.shape[2], device=self.k.device) >= self.lengths[:, None]
        for x in (self.k, self.v):
            x.masked_fill_(gone[:, None, :, None], 0)

    def fork(self) -> Static:
        """A second cache that has read the same, in memory of its own."""
        B, G, capacity, D = self.k.shape
        other = Static(B, G, capacity, D, self.v.shape[-1], self.k.dtype, str(self.k.device))
        other.k, other.v = self.k.clone(), self.v.clone()
        other.lengths = self.lengths.clone()
        return other


class Joined:
    """A cache that is never changed; the sequences are of one length."""

    persistent = True

    def __init__(self, read: tuple[Tensor, Tensor] | None = None) -> None:
        self.read = read

    def extend(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Joined]:
        """The answers to n tokens, query (B, H, n, D) to (B, H, n, E), and the cache after."""
        before = self.read or (key[:, :, :0], value[:, :, :0])
        k, v = torch.cat([before[0], key], dim=2), torch.cat([before[1], value], dim=2)
        n, length = query.shape[2], k.shape[2]
        seen = torch.ones(n, length, dtype=torch.bool, device=k.device).tril(length - n)
        return attended(query, k, v, seen), Joined((k, v))

    def rollback(self, lengths: int) -> Joined:
        """The cache that has read the first tokens alone."""
        if self.read is None:
            return self
        k, v = self.read
        return Joined((k[:, :, :lengths], v[:, :, :lengths]))

    def fork(self) -> Joined:
        """The cache itself, which nothing changes."""
        return self


def attended(query: Tensor, k: Tensor, v: Tensor, seen: Tensor) -> Tensor:
    """The attention of each query to what it may see; key heads once for each query head."""
    group = query.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(group, dim=1) for x in (k, v))
    return scaled_dot_product_attention(query, k, v, attn_mask=seen)
