"""Attention in index notation, in torch, with gradients by autograd.

    s_bgrij = scale q_bgric k_bgjc        o_bgric = a_bgrij v_bgjc

(Vaswani et al. 2017, section 3.2.1). Query head h = g R + r reads key head g (Ainslie et al. 2023,
section 2.2). The largest score of a row is subtracted before exp; otherwise float32 would overflow
at a score of 89.
"""

from math import inf
from typing import Any

import torch
from torch import Tensor

from implementations.arguments import UNBOUNDED, Window, factor, group, sight
from implementations.arguments_torch import (
    accumulator,
    apart,
    capped,
    laid_out,
    nonzero,
    places,
    reference,
    steep,
    sunk,
    together,
    visible,
)


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window_size: Window = UNBOUNDED,
    sink_size: int = 0,
    softcap: float | None = None,
    sinks: Tensor | None = None,
    alibi_slopes: Tensor | None = None,
    query_segments: Tensor | None = None,
    key_segments: Tensor | None = None,
    query_positions: Tensor | None = None,
    key_positions: Tensor | None = None,
    return_lse: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return o_bgric = a_bgrij v_bgjc.

    query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E). With return_lse,
    also return the log-sum-exp (B, H, N), not rounded, -inf for a fully masked query.
    The options and the exceptions are those of `implementations.dense.attend`.
    """
    asked = attn_mask, is_causal, scale, enable_gqa, window_size, sink_size, softcap, alibi_slopes
    of_tokens = query_segments, key_segments, query_positions, key_positions
    s, seen = scores(query, key, *asked, *of_tokens)
    # A masked weight must pass on no gradient, however large the value is.
    a, lse = softmax(s, sinks)
    a = a.masked_fill(~seen, 0)
    o = torch.einsum("bgrij,bgjc->bgric", a, read(value, seen, a.dtype))
    o = o.reshape(*query.shape[:3], value.shape[3]).to(query.dtype)
    return (o, lse.reshape(query.shape[:3])) if return_lse else o


def weights(
    query: Tensor,
    key: Tensor,
    value: Tensor,  # noqa: ARG001 - the signature of attend; weights do not depend on values
    sinks: Tensor | None = None,
    **options: Any,
) -> Tensor:
    """Return a_ij = exp(s_ij) / (exp(t_h) + sum_j exp(s_ij)).   (B, H, N, M)"""
    s, _ = scores(query, key, **options)
    return softmax(s, sinks)[0].reshape(*query.shape[:3], key.shape[2]).to(query.dtype)


def scores(
    query: Tensor,
    key: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window_size: Window = UNBOUNDED,
    sink_size: int = 0,
    softcap: float | None = None,
    alibi_slopes: Tensor | None = None,
    query_segments: Tensor | None = None,
    key_segments: Tensor | None = None,
    query_positions: Tensor | None = None,
    key_positions: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return s_bgrij = cap(scale q_bgric k_bgjc) + b_bgrij - m_bgr |i - j|, and the visible pairs.

    Scores of masked keys are -inf.
    """
    (B, H, N, D), (_, G, M, _) = query.shape, key.shape
    shape = (B, G, group(H, G, enable_gqa), N, M)
    mask = None if attn_mask is None else attn_mask.expand(B, H, N, M).reshape(shape)
    window = sight(is_causal, window_size, sink_size)
    texts = together(query_segments, key_segments, (B, N, M))
    own = None if texts is None else texts[:, None]
    rows, cols, at = slice(0, N), slice(0, M), places(query, key, query_positions, key_positions)
    at = None if at is None else (at[0][:, None], at[1][:, None])
    seen = visible(mask, window, rows, cols, query.device, own, at).expand(shape)
    q = laid_out(query, accumulator(query.dtype)).reshape(*shape[:3], N, D)
    s = factor(scale, D) * torch.einsum("bgric,bgjc->bgrij", q, read(key, seen, q.dtype))
    s, m = capped(s, softcap), steep(alibi_slopes, query.shape, s)
    if m is not None:
        s = s - m.reshape(*shape[:3], 1, 1) * apart(rows, cols, s, at)
    if mask is not None and mask.dtype != torch.bool:
        s = s + mask.to(s.dtype)
    return s.masked_fill(~seen, -inf), seen


def read(x: Tensor, seen: Tensor, dtype: torch.dtype) -> Tensor:
    """Return keys or values with zeros where no query may attend to them.

    Such keys may hold NaN, and 0 * NaN is NaN.   x: (B, G, M, C)    seen: (B, G, R, N, M)
    """
    hidden = ~seen.any(dim=3).any(dim=2)
    return laid_out(x, dtype).masked_fill(hidden[..., None], 0)


def beside(s: Tensor, sinks: Tensor | None) -> Tensor:
    """Return the scores, and those of the sinks after them.   (B, G, R, N, M or M + 1)"""
    if sinks is None:
        return s
    G, R = s.shape[1:3]
    t = sunk(sinks, G * R, s).reshape(G, R, 1, 1)
    return torch.cat([s, t.expand(*s.shape[:-1], 1)], dim=-1)


def softmax(s: Tensor, sinks: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return exp(s_j) / (exp(t_h) + sum_j exp(s_j)) along the last axis, and the log of that sum.

    If all scores are -inf, the weights are zero and the logarithm is -inf, a constant.
    """
    M, s = s.shape[-1], beside(s, sinks)
    if s.shape[-1] == 0:
        return s, s.new_full(s.shape[:-1], -inf)
    top = reference(s.detach().amax(dim=-1, keepdim=True))  # a constant: a shift changes nothing
    e = (s - top).exp()
    total = e.sum(dim=-1, keepdim=True)
    lse = (top + nonzero(total).log()).masked_fill(total == 0, -inf)
    return (e / nonzero(total))[..., :M], lse[..., 0]


vars(attend).update(weights=weights)
