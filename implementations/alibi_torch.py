"""ALiBi in torch, causal: slopes by multiplication, the future forbidden in the same matrix.

A first slope of 2^(-8/n), and every next one the last times the first; what lies ahead of a
query is -inf, so that the bias is mask and bias in one.
"""

import torch
from torch import Tensor


def bias(heads: int, queries: int, keys: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """-m_h times the distance, and -inf ahead; the queries are the last of the keys.

    heads, queries, keys -> (heads, queries, keys)
    """
    here = torch.arange(keys - queries, keys)
    distance = here[:, None] - torch.arange(keys)
    number = torch.promote_types(dtype, torch.float32)
    charged = -slopes(heads, number)[:, None, None] * distance
    return charged.masked_fill(distance < 0, float("-inf")).to(dtype)


def slopes(heads: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """The slopes of the largest power of two below, and every other one of twice as many."""
    number = torch.promote_types(dtype, torch.float32)
    n = 1 << (heads.bit_length() - 1)
    others = powers(2 * n, number)[0::2][: heads - n]
    return torch.cat([powers(n, number), others]).to(dtype)


def powers(heads: int, number: torch.dtype) -> Tensor:
    """2^(-8/heads), its square, its third power, ..."""
    return torch.cumprod(torch.full((heads,), 2.0 ** (-8 / heads), dtype=number), dim=0)


vars(bias).update(slopes=slopes)
