"""Layers of torch, except `torch.nn.MultiheadAttention` in its batch-first layout.

`Length` is that class with its default layout, the length before the batch. `Encoder` is a whole
`torch.nn.TransformerEncoderLayer`, whose fast path is one program. Its parameters are set so that
only the attention has an effect. `Quantizable` is `torch.ao.nn.quantizable.MultiheadAttention`,
which has a separate forward pass in Python, and three projections. The packed projection, which it
inherits and never reads, is left out. `QuantizableLength` is that class with its default layout.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.ao.nn import quantizable
from torch.func import functional_call


class Length(nn.MultiheadAttention):
    """A layer with the length first, which is called with the batch first."""

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
        """As in torch, except for the layout."""
        how = key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal
        query, key, value = _turned(query, key, value)
        out, weights = super().forward(query, key, value, *how)
        return _turned(out)[0], weights


class Encoder(nn.Module):
    """The attention inside `torch.nn.TransformerEncoderLayer`: self-attention, with torch's masks.

    The norms return their inputs, because their epsilon is 2^100, their weights are 2^50, and the
    mean of each row is zero, as in (x, -x, 0, 0). The attention reads the first of these four parts
    and adds to the third; the network after it has an output of zero. All this is computed in
    float64, so that the rounding of the norms is negligible next to float32. A head is four times
    as wide, so its scale is half as large.
    """

    def __init__(self, embed_dim: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        self.self_attn = nn.MultiheadAttention(embed_dim, num_heads, bias=bias)  # the parameters
        layer = nn.TransformerEncoderLayer(
            4 * embed_dim,
            num_heads,
            1,
            dropout=0.0,
            layer_norm_eps=2.0**100,
            batch_first=True,
            norm_first=True,
            bias=bias,
        )
        with torch.no_grad():
            for norm in (layer.norm1, layer.norm2):
                norm.weight.fill_(2.0**50)
            for x in layer.linear2.parameters():
                x.zero_()
        self.layers = (layer.double(),)  # in a tuple, torch does not register it

    def forward(
        self,
        x: Tensor,
        attn_mask: Tensor | None = None,
        key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """x (B, N, A) gives (B, N, A)."""
        (layer,), A = self.layers, x.shape[-1]
        layer.train(self.training)
        nothing = torch.zeros_like(x)
        rows = torch.cat([x, -x, nothing, nothing], dim=-1).double()
        masks = (
            mask.double() if mask is not None and mask.is_floating_point() else mask
            for mask in (attn_mask, key_padding_mask)
        )
        out: Tensor = functional_call(layer, self._placed(A), (rows, *masks, is_causal))
        return out[..., 2 * A : 3 * A].to(x.dtype)

    def _placed(self, A: int) -> dict[str, Tensor]:
        """The parameters of an attention of width 4 A that contain those of width A."""
        H = self.self_attn.num_heads
        head = torch.arange(4 * A).reshape(H, 4, A // H)[:, 0].reshape(-1)
        twice = torch.tensor([2.0, 1.0, 1.0], dtype=torch.float64)
        found = {}
        for name, p in self.self_attn.named_parameters():
            whole = torch.zeros([4 * n for n in p.shape], dtype=torch.float64)
            part = p.double()
            if name.startswith("out"):
                whole[(slice(2 * A, 3 * A), head)[: p.ndim]] = part
            else:
                whole = whole.reshape(3, 4 * A, *whole.shape[1:])
                parts = part.reshape(3, A, *p.shape[1:]) * twice.reshape(3, *[1] * p.ndim)
                whole[(slice(None), head, slice(A))[: p.ndim + 1]] = parts
                whole = whole.flatten(0, 1)
            found[f"self_attn.{name}"] = whole
        return found


class Quantizable(quantizable.MultiheadAttention):
    """The layer with `batch_first`; its three projections are saved as one, as in torch's layer."""

    first = True

    def __init__(self, embed_dim: int, num_heads: int, bias: bool = True) -> None:
        super().__init__(embed_dim, num_heads, bias=bias, batch_first=self.first)
        self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", None)

    def state_dict(self, *how: Any, **words: Any) -> Any:
        """The parameters, with linear_Q, linear_K and linear_V stacked."""
        found = super().state_dict(*how, **words)
        for kind in ("weight", "bias"):
            parts = [found.pop(name) for name in _names(kind) if name in found]
            found |= {f"in_proj_{kind}": torch.cat(parts)} if parts else {}
        return found

    def load_state_dict(self, state_dict: Any, *how: Any, **words: Any) -> Any:
        """Set the parameters, from stacked projections."""
        found = dict(state_dict)
        for kind in ("weight", "bias"):
            if f"in_proj_{kind}" in found:
                found |= zip(_names(kind), found.pop(f"in_proj_{kind}").chunk(3), strict=True)
        return super().load_state_dict(found, *how, **words)


class QuantizableLength(Quantizable):
    """The layer with the length first (torch's default), which is called with the batch first."""

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
        """As in torch, except for the layout."""
        how = key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal
        query, key, value = _turned(query, key, value)
        out, weights = super().forward(query, key, value, *how)
        return _turned(out)[0], weights


def _names(kind: str) -> tuple[str, ...]:
    """The names of the three projections."""
    return tuple(f"linear_{letter}.{kind}" for letter in "QKV")


def _turned(*arrays: Tensor) -> tuple[Tensor, ...]:
    """The arrays with batch and length swapped; an array that occurs twice stays one array."""
    seen: dict[int, Tensor] = {}
    for x in arrays:
        seen.setdefault(id(x), x.transpose(0, 1) if x.ndim == 3 else x)
    return tuple(seen[id(x)] for x in arrays)
