"""Merging of two states in torch: weights from the log-sum-exp of both, gradients by autograd.

    lse = logaddexp(lse_1, lse_2)    w_i = exp(lse_i - lse)

The normaliser is rounded before it is used, which costs u |lse| of a weight. States without keys
get no gradient: no infinity enters an expression that is differentiated.
"""

from math import inf

import torch
from torch import Tensor

from implementations.arguments_torch import accumulator


def merge(o_1: Tensor, lse_1: Tensor, o_2: Tensor, lse_2: Tensor) -> tuple[Tensor, Tensor]:
    """Return o and lse of both states.   o_i (B, H, N, E), lse_i (B, H, N)"""
    work = accumulator(o_1.dtype)
    gone_1, gone_2 = lse_1.isneginf(), lse_2.isneginf()
    both = ~(gone_1 | gone_2)
    l_1, l_2 = (x.to(work).masked_fill(~both, 0) for x in (lse_1, lse_2))
    joint = torch.logaddexp(l_1, l_2)
    alone = torch.where(gone_1, lse_2, lse_1).masked_fill(gone_1 & gone_2, -inf)
    lse = torch.where(both, joint, alone.to(work))
    w_1 = torch.where(both, (l_1 - joint).exp(), (~gone_1).to(work))
    w_2 = torch.where(both, (l_2 - joint).exp(), (~gone_2).to(work))
    o = weighed(w_1, o_1, gone_1) + weighed(w_2, o_2, gone_2)
    return o.to(o_1.dtype), lse.to(lse_1.dtype)


def weighed(w: Tensor, o: Tensor, gone: Tensor) -> Tensor:
    """Return w o, and 0 without keys, whatever o contains there.   (B, H, N, E)"""
    return w[..., None] * o.to(w.dtype).masked_fill(gone[..., None], 0)
