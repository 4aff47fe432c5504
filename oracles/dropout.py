"""Dropout on the weights of attention by torch itself, in three ways.

    attend       scaled_dot_product_attention with dropout_p. It has no mode, and drops whenever
                 dropout_p is positive (pytorch/pytorch#124464): pass 0 for evaluation
    composed     torch.nn.functional.dropout on the weights, with its `training`
    Multihead    torch.nn.MultiheadAttention(dropout=p), in the mode of train() and eval(), with
                 identity projections, so that it computes only attention

All of them use the global random number generator of torch.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, scaled_dot_product_attention

from implementations.arguments import sight
from implementations.arguments_torch import visible


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """Return torch.nn.functional.scaled_dot_product_attention with dropout.   (B, H, N, E)

    Raises RuntimeError for a mask together with is_causal.
    """
    return scaled_dot_product_attention(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale
    )


def composed(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    training: bool = True,
) -> Tensor:
    """Return softmax, torch.nn.functional.dropout and product, composed.   (B, H, N, E)"""
    return (
        composed_weights(query, key, value, attn_mask, dropout_p, is_causal, scale, training)
        @ value
    )


def composed_weights(
    query: Tensor,
    key: Tensor,
    value: Tensor,  # noqa: ARG001 - the signature of attend; weights do not depend on values
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    training: bool = True,
) -> Tensor:
    """Return the weights that `composed` uses.   (B, H, N, M)"""
    sigma = query.shape[-1] ** -0.5 if scale is None else scale
    rows, cols = (slice(0, x.shape[-2]) for x in (query, key))
    seen = visible(attn_mask, sight(is_causal), rows, cols, query.device)
    a = (sigma * (query @ key.mT)).masked_fill(~seen, -torch.inf).softmax(dim=-1)
    return dropout(a, dropout_p, training)


class Multihead(nn.Module):
    """torch.nn.MultiheadAttention as a function of heads; E = D, and there is no scale argument."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p
        self.layer: nn.MultiheadAttention | None = None

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return the output for (B, H, N, D), (B, H, M, D) and (B, H, M, D).   (B, H, N, D)"""
        return self.answered(query, key, value, attn_mask, is_causal)[0]

    def weights(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return the weights that the layer returns, after dropout (pytorch/pytorch#42929)."""
        return self.answered(query, key, value, attn_mask, is_causal)[1]

    def answered(
        self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, is_causal: bool
    ) -> tuple[Tensor, Tensor]:
        """Return output and weights of the layer, which gets the heads concatenated."""
        B, H, N, D = query.shape
        if self.layer is None:
            self.layer = identity(H, D, self.p).to(query.dtype).train(self.training)
        rows, cols = slice(0, N), slice(0, key.shape[2])
        seen = visible(attn_mask, sight(is_causal), rows, cols, query.device)
        q, k, v = (x.transpose(1, 2).flatten(2) for x in (query, key, value))
        o, w = self.layer(q, k, v, attn_mask=~seen, average_attn_weights=False)
        return o.view(B, N, H, D).transpose(1, 2), w


def identity(H: int, D: int, p: float) -> nn.MultiheadAttention:
    """Return a layer whose projections are identities."""
    layer = nn.MultiheadAttention(H * D, H, dropout=p, bias=False, batch_first=True)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.eye(H * D).repeat(3, 1))
        layer.out_proj.weight.copy_(torch.eye(H * D))
    return layer.requires_grad_(False)


vars(composed).update(weights=composed_weights)
