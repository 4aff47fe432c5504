"""Attention with dropout on its weights in torch: a function, and a module with a mode.

    o_i = (sum_j m_ij e_ij v_j) / ((1 - p) sum_j e_ij)        e_ij = exp(s_ij - max_j s_ij)

(dropout: Srivastava et al. 2014). Dropout applies to the numerators. The denominator at the end
contains every key, dropped or not. Gradients are by autograd.
"""

import torch
from torch import Tensor, nn

from implementations.arguments import factor, sight
from implementations.arguments_torch import accumulator, visible


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    training: bool = True,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Return o_i = sum_j m_ij a_ij v_j / (1 - dropout_p), without dropout unless training.

    query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E). attn_mask broadcasts
    to (B, H, N, M): bool, True where i may attend to j. Every query must have a visible key. Random
    numbers come from the generator, or from the default one of torch.
    """
    e = exponentials(query, key, attn_mask, is_causal, scale)
    total = e.sum(dim=-1, keepdim=True)
    rate = dropout_p if training else 0.0
    if rate >= 1:
        e = e * 0
    elif rate > 0:
        chance = torch.rand(e.shape, generator=generator, device=e.device)
        e, total = e.masked_fill(chance < rate, 0), total * (1 - rate)
    return ((e @ value.to(e.dtype)) / total).to(query.dtype)


def exponentials(
    query: Tensor, key: Tensor, attn_mask: Tensor | None, is_causal: bool, scale: float | None
) -> Tensor:
    """Return e_ij = exp(s_ij - max_j s_ij), 0 where key j is masked for i.   (B, H, N, M)"""
    work = accumulator(query.dtype)
    q, k = query.to(work) * factor(scale, query.shape[-1]), key.to(work)
    rows, cols = (slice(0, x.shape[-2]) for x in (query, key))
    seen = visible(attn_mask, sight(is_causal), rows, cols, query.device)
    s = (q @ k.mT).masked_fill(~seen, -torch.inf)
    return (s - s.detach().amax(dim=-1, keepdim=True)).exp()


class Attention(nn.Module):
    """Attention with dropout as a module: `train` and `eval` switch dropout on and off."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        is_causal: bool = False,
        scale: float | None = None,
    ) -> Tensor:
        """Return the output for (B, H, N, D), (B, H, M, D) and (B, H, M, E).   (B, H, N, E)"""
        return attend(query, key, value, attn_mask, self.dropout, is_causal, scale, self.training)
