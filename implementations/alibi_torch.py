"""Causal ALiBi in torch: slopes by repeated multiplication, and a bias that masks the future.

The first slope is 2^(-8/n), and each next one is the previous one times the first. Keys ahead of a
query have the bias -inf, so that the bias is also the causal mask.
"""

import torch
from torch import Tensor


def bias(heads: int, queries: int, keys: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return -m_h times the distance, and -inf for keys ahead; queries are at the last keys.

    heads, queries, keys -> (heads, queries, keys)
    """
    here = torch.arange(keys - queries, keys)
    distance = here[:, None] - torch.arange(keys)
    number = torch.promote_types(dtype, torch.float32)
    charged = -slopes(heads, number)[:, None, None] * distance
    return charged.masked_fill(distance < 0, float("-inf")).to(dtype)


def slopes(heads: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return the slopes for the largest power of two n <= heads, and every other one for 2n."""
    number = torch.promote_types(dtype, torch.float32)
    n = 1 << (heads.bit_length() - 1)
    others = powers(2 * n, number)[0::2][: heads - n]
    return torch.cat([powers(n, number), others]).to(dtype)


def powers(heads: int, number: torch.dtype) -> Tensor:
    """Return 2^(-8/heads), its square, its third power, ..."""
    return torch.cumprod(torch.full((heads,), 2.0 ** (-8 / heads), dtype=number), dim=0)


vars(bias).update(slopes=slopes)
