"""`implementations.arguments` for torch: who sees whom, and products that respect it."""

from math import nan

import torch
from torch import Tensor


def accumulator(dtype: torch.dtype) -> torch.dtype:
    """The format to compute in: float32 for the 16-bit ones, which are rounded once at the end."""
    return torch.promote_types(dtype, torch.float32)


def laid_out(x: Tensor, dtype: torch.dtype) -> Tensor:
    """x in `dtype` and contiguous, as the strides decide in which order a product is summed."""
    return x.to(dtype).contiguous()


def visible(attn_mask: Tensor | None, is_causal: bool, i: Tensor, j: Tensor) -> Tensor:
    """True where query i may attend to key j, for indices that broadcast with the mask."""
    if attn_mask is None:
        seen = torch.ones_like(i + j, dtype=torch.bool)
    else:
        seen = attn_mask if attn_mask.dtype == torch.bool else ~attn_mask.isneginf()
    return seen & (j <= i) if is_causal else seen


def mixed(a: Tensor, x: Tensor, seen: Tensor) -> Tensor:
    """sum_j a_ij x_j over the keys that i may attend to, be the others inf or NaN.

    a, seen: (..., N, M)    x: (..., M, C)    result: (..., N, C)
    """
    finite = x.isfinite()
    if finite.all():
        return a @ x
    touched = seen.to(a.dtype).expand_as(a) @ (~finite).to(a.dtype)
    return (a @ x.where(finite, 0)).masked_fill(touched > 0, nan)
