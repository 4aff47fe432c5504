"""torch's flex_attention, with options as functions of a score and its position.

The arguments have the names of `scaled_dot_product_attention`. The modification of scores
(`score_mod`) and the visible keys (`mask_mod`) are functions of positions, as in torch's guide.
There are no attention sinks. On a CPU the function runs one operation after the other, and raises
an exception if a gradient is required (torch 2.13).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import (
    AuxRequest,
    BlockMask,
    create_block_mask,
    flex_attention,
)

from spec.attention.contents import UNBOUNDED, Window
from spec.runner.arrays.for_torch import compiler

Score = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]  # s, b, h, i, j
Sight = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]  # b, h, i, j


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window_size: Window = UNBOUNDED,
    softcap: float | None = None,
    alibi_slopes: Tensor | None = None,
    query_segments: Tensor | None = None,
    key_segments: Tensor | None = None,
    query_positions: Tensor | None = None,
    key_positions: Tensor | None = None,
    return_lse: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).

    The options have the names of `spec.attention.options`. return_lse: also return the log-sum-exp
    (B, H, N). Raises NotImplementedError if a gradient is required on a CPU.
    """
    told = attn_mask, is_causal, window_size, softcap, alibi_slopes
    score, block = _functions(
        query, key, *told, query_segments, key_segments, query_positions, key_positions
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a warning that it is not compiled
        out, aux = flex_attention(
            query, key, value, score, block, scale, enable_gqa, return_aux=AuxRequest(lse=True)
        )
    assert aux.lse is not None
    return (out, aux.lse) if return_lse else out


def compiled(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window_size: Window = UNBOUNDED,
    softcap: float | None = None,
    alibi_slopes: Tensor | None = None,
    query_segments: Tensor | None = None,
    key_segments: Tensor | None = None,
    query_positions: Tensor | None = None,
    key_positions: Tensor | None = None,
) -> Tensor:
    """As `attend`, compiled as in torch's guide. On a CPU it returns only the output."""
    told = attn_mask, is_causal, window_size, softcap, alibi_slopes
    score, block = _functions(
        query, key, *told, query_segments, key_segments, query_positions, key_positions
    )
    return _compiled()(query, key, value, score, block, scale, enable_gqa)


@cache  # not at import: loading the compiler takes seconds
def _compiled() -> Callable[..., Any]:
    """flex_attention, compiled for each shape; torch rejects more calls if shapes are dynamic."""
    return compiler(flex_attention, dynamic=False)


def _functions(
    query: Tensor,
    key: Tensor,
    attn_mask: Tensor | None,
    is_causal: bool,
    window_size: Window,
    softcap: float | None,
    alibi_slopes: Tensor | None,
    query_segments: Tensor | None,
    key_segments: Tensor | None,
    query_positions: Tensor | None,
    key_positions: Tensor | None,
) -> tuple[Score, BlockMask]:
    """The options as two functions: the modification of a score, and the visible keys."""
    (B, H, N, _), M = query.shape, key.shape[2]
    p = _places(query_positions, query, B, N)
    r = _places(key_positions, query, B, M)
    whole = None if attn_mask is None else attn_mask.expand(B, H, N, M)
    boolean = whole is not None and whole.dtype == torch.bool
    shown = _hiding(whole if boolean else None)
    near = _near(is_causal, window_size, p, r)
    together = _of_one_text(query_segments, key_segments)

    def sight(b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return shown(b, h, i, j) & near(b, h, i, j) & together(b, h, i, j)

    block = create_block_mask(sight, B, H, N, M, device=str(query.device))
    score = _scored(softcap, None if boolean else whole, alibi_slopes, p, r)
    return score, block


def _places(given: Tensor | None, like: Tensor, B: int, length: int) -> Tensor:
    """The positions of queries, or of keys, on the device of `like`.   (B, length)"""
    here = torch.arange(length, device=like.device).expand(B, length)
    return here if given is None else given.long()


def _scored(
    softcap: float | None, added: Tensor | None, slopes: Tensor | None, p: Tensor, r: Tensor
) -> Score:
    """The function that soft-caps a score and adds a bias."""

    def score(s: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        if softcap is not None:
            s = softcap * torch.tanh(s / softcap)
        if added is not None:
            s = s + added[b, h, i, j]
        if slopes is not None:
            m = slopes[h] if slopes.ndim == 1 else slopes[b, h]
            s = s - m * (p[b, i] - r[b, j]).abs()
        return s

    return score


def _hiding(mask: Tensor | None) -> Sight:
    """A function that is True for keys that the mask leaves visible."""

    def shown(b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return j >= 0 if mask is None else mask[b, h, i, j]

    return shown


def _near(is_causal: bool, window: Window, p: Tensor, r: Tensor) -> Sight:
    """A function that is True for keys inside the window and the causal range of a query."""
    left, right = window

    def near(b: Tensor, _: Tensor, i: Tensor, j: Tensor) -> Tensor:
        behind = p[b, i] - r[b, j]
        seen = j >= 0
        for is_asked, within in (
            (is_causal, behind >= 0),
            (left is not None, behind <= (left or 0)),
            (right is not None, behind >= -(right or 0)),
        ):
            seen = seen & within if is_asked else seen
        return seen

    return near


def _of_one_text(mine: Tensor | None, theirs: Tensor | None) -> Sight:
    """A function that is True for a query and a key of one segment."""

    def together(b: Tensor, _: Tensor, i: Tensor, j: Tensor) -> Tensor:
        if mine is None or theirs is None:
            return j >= 0
        return (mine[b, i] == theirs[b, j]) & (theirs[b, j] >= 0)

    return together
