"""x-transformers: its rotary positions (`rotate`) and its linear biases (`bias`)."""

from __future__ import annotations

import torch
from torch import Tensor
from x_transformers.x_transformers import AlibiPositionalBias, RotaryEmbedding, apply_rotary_pos_emb


def rotate(x: Tensor, positions: Tensor, base: float = 10000.0, width: int | None = None) -> Tensor:
    """R(p) x for x (B, H, N, D) and positions (N) or (B, N), on the first `width` columns.

    Raises the exceptions of the library: for an odd width, and for a width of 2 (division by zero).
    """
    module = RotaryEmbedding(x.shape[-1] if width is None else width, base=base)
    return apply_rotary_pos_emb(x, *module(positions))


def bias(heads: int, queries: int, keys: int) -> Tensor:
    """-m_h times the distance; the queries are the last positions.   (heads, queries, keys)"""
    return AlibiPositionalBias(heads=heads)(queries, keys)


def slopes(heads: int) -> Tensor:
    """The ALiBi slopes.   (heads)"""
    return torch.tensor(AlibiPositionalBias._get_slopes(heads))


vars(bias).update(slopes=slopes)
