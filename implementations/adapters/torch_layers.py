"""Layers of torch's beside `torch.nn.MultiheadAttention` in its own layout.

`Length` is that class as it is made by default, with the length before the batch. `Encoder` is the
self-attention of `torch.nn.TransformerEncoderLayer`, as the slow path of its forward pass calls it;
its fast path cannot be told apart from the norms around it. `Quantizable` is
`torch.ao.nn.quantizable.MultiheadAttention`, which has a forward pass of its own in Python, and
three projections; the packed one that it inherits, and never reads, is left out.
`QuantizableLength` is that class as it is made by default.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.ao.nn import quantizable


class Length(nn.MultiheadAttention):
    """Called with the batch first, it puts the length there."""

    def __init__(self, embed_dim: int, num_heads: int, bias: bool = True) -> None:
        super().__init__(embed_dim, num_heads, bias=bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """As torch's, but for the layout."""
        how = key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal
        query, key, value = _turned(query, key, value)
        out, weights = super().forward(query, key, value, *how)
        return _turned(out)[0], weights


class Encoder(nn.Module):
    """The self-attention of an encoder layer: one text, masks of torch's kind."""

    def __init__(self, embed_dim: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            embed_dim, num_heads, 1, dropout=0.0, batch_first=True, bias=bias
        )
        self.self_attn, self.layers = layer.self_attn, (layer,)  # a tuple hides the rest of it

    def forward(
        self,
        x: Tensor,
        attn_mask: Tensor | None = None,
        key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """x (B, N, A) gives (B, N, A)."""
        (layer,) = self.layers
        layer.train(self.training)
        out: Tensor = layer._sa_block(x, attn_mask, key_padding_mask, is_causal)
        return out


class Quantizable(quantizable.MultiheadAttention):
    """As torch makes it with `batch_first`, its three projections saved as one, as torch's are."""

    first = True

    def __init__(self, embed_dim: int, num_heads: int, bias: bool = True) -> None:
        super().__init__(embed_dim, num_heads, bias=bias, batch_first=self.first)
        self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", None)

    def state_dict(self, *how: Any, **words: Any) -> Any:
        """linear_Q, linear_K and linear_V one above the other."""
        found = super().state_dict(*how, **words)
        for kind in ("weight", "bias"):
            parts = [found.pop(name) for name in _names(kind) if name in found]
            found |= {f"in_proj_{kind}": torch.cat(parts)} if parts else {}
        return found

    def load_state_dict(self, state_dict: Any, *how: Any, **words: Any) -> Any:
        """The same in parts."""
        found = dict(state_dict)
        for kind in ("weight", "bias"):
            if f"in_proj_{kind}" in found:
                found |= zip(_names(kind), found.pop(f"in_proj_{kind}").chunk(3), strict=True)
        return super().load_state_dict(found, *how, **words)


class QuantizableLength(Quantizable):
    """As torch makes it by default, with the length first; called with the batch first."""

    first = False

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """As torch's, but for the layout."""
        how = key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal
        query, key, value = _turned(query, key, value)
        out, weights = super().forward(query, key, value, *how)
        return _turned(out)[0], weights


def _names(kind: str) -> tuple[str, ...]:
    """What the three projections are called."""
    return tuple(f"linear_{letter}.{kind}" for letter in "QKV")


def _turned(*arrays: Tensor) -> tuple[Tensor, ...]:
    """Batch and length in each other's place; an array that occurs twice is one array still."""
    seen: dict[int, Tensor] = {}
    for x in arrays:
        seen.setdefault(id(x), x.transpose(0, 1) if x.ndim == 3 else x)
    return tuple(seen[id(x)] for x in arrays)
