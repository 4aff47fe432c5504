"""LitGPT: its rotary positions, pairing halves (`rotate`) or neighbours (`interleaved`)."""

from __future__ import annotations

from litgpt.model import apply_rope, apply_rope_interleave, batched_index_select, build_rope_cache
from torch import Tensor

LENGTH = 4096  # positions in the cache


def rotate(x: Tensor, positions: Tensor, base: int = 10000) -> Tensor:
    """R(p) x for x (B, H, N, D) and positions (N) or (B, N)."""
    return apply_rope(x, *_turned(x, positions, base))


def interleaved(x: Tensor, positions: Tensor, base: int = 10000) -> Tensor:
    """As `rotate`, with neighbouring columns paired; the two columns of a pair come out apart."""
    return apply_rope_interleave(x, *_turned(x, positions, base))


def _turned(x: Tensor, positions: Tensor, base: int) -> tuple[Tensor, Tensor]:
    """The cosines and sines of the positions.   (1 or B, N, D)"""
    tables = build_rope_cache(LENGTH, x.shape[-1], base=base)
    one, other = (batched_index_select(table, 0, positions) for table in tables)
    return (one[None], other[None]) if positions.ndim == 1 else (one, other)
