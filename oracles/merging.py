"""Merging in torch float64, as a softmax of two scores, with gradients by autograd.

    lse = logsumexp(lse_1, lse_2)    o = sum_i softmax(lse_1, lse_2)_i o_i

It uses functions of torch, and nothing that was derived by hand. Their softmax is NaN for empty
states. So if one state is empty, the other one is returned; if both are, the first.
"""

import torch
from torch import Tensor


def merge(o_1: Tensor, lse_1: Tensor, o_2: Tensor, lse_2: Tensor) -> tuple[Tensor, Tensor]:
    """Return o and lse of both, in their dtypes.   o_i (B, H, N, E), lse_i (B, H, N)"""
    s = torch.stack([lse_1, lse_2], dim=-1).double()
    o = torch.stack([o_1, o_2], dim=-2).double()
    empty = s.isneginf()
    none, some = empty.all(dim=-1), empty.any(dim=-1)
    # Filled twice: no gradient may pass through an infinity, or reach a state without keys.
    alone = (~empty).double() * ~none[..., None]
    w = torch.where(some[..., None], alone, s.masked_fill(some[..., None], 0).softmax(dim=-1))
    single = (s.masked_fill(empty, 0) * alone).sum(dim=-1)
    joint = s.masked_fill(some[..., None], 0).logsumexp(dim=-1)
    lse = torch.where(some, single, joint).masked_fill(none, -torch.inf)
    merged = (w[..., None] * o.masked_fill(empty[..., None], 0)).sum(dim=-2)
    return merged.to(o_1.dtype), lse.to(lse_1.dtype)
