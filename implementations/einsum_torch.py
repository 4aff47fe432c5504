"""Attention in index notation, in torch: the gradients are autograd's.

    s_bgrij = scale q_bgric k_bgjc        o_bgric = a_bgrij v_bgjc

(Vaswani et al. 2017, section 3.2.1). Query head h = g R + r reads key head g
(Ainslie et al. 2023, section 2.2). The largest score of a row is subtracted before
exp, without which float32 would overflow at a score of 89.
"""

from math import inf
from typing import Any

import torch
from torch import Tensor

from implementations.arguments import UNBOUNDED, Window, factor, group, sight
from implementations.arguments_torch import accumulator, capped, laid_out, visible


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
) -> Tensor:
    """o_bgric = a_bgrij v_bgjc.

    query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).
    attn_mask broadcasts to (B, H, N, M): bool, True where i may attend to j, or a
    float that is added to the scores. is_causal also forbids j > i, and window_size
    (left, right) all j < i - left and j > i + right, None being no bound. softcap c makes
    c tanh(s / c) of a score s before anything is added.
    Raises ValueError: H and G differ without enable_gqa, or G does not divide H; a bound < 0,
    or a cap that is not positive.
    """
    s, seen = scores(query, key, attn_mask, is_causal, scale, enable_gqa, window_size, softcap)
    # A weight that is zero by decree passes no gradient on, however large the value is.
    a = softmax(s).masked_fill(~seen, 0)
    o = torch.einsum("bgrij,bgjc->bgric", a, read(value, seen, a.dtype))
    return o.reshape(*query.shape[:3], value.shape[3]).to(query.dtype)


def weights(
    query: Tensor,
    key: Tensor,
    value: Tensor,  # noqa: ARG001 - called like attention, though no weight depends on a value
    **options: Any,
) -> Tensor:
    """a_ij = exp(s_ij) / sum_j exp(s_ij).   (B, H, N, M)"""
    s, _ = scores(query, key, **options)
    return softmax(s).reshape(*query.shape[:3], key.shape[2]).to(query.dtype)


def lse(
    query: Tensor,
    key: Tensor,
    value: Tensor,  # noqa: ARG001 - called like attention, though no score depends on a value
    **options: Any,
) -> Tensor:
    """log sum_j exp(s_ij), -inf for an idle query, in the accumulator's format.   (B, H, N)"""
    s, _ = scores(query, key, **options)
    return s.logsumexp(dim=-1).reshape(query.shape[:3])


def scores(
    query: Tensor,
    key: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window_size: Window = UNBOUNDED,
    softcap: float | None = None,
) -> tuple[Tensor, Tensor]:
    """s_bgrij = cap(scale q_bgric k_bgjc) + b_bgrij, -inf where forbidden; where it is not."""
    (B, H, N, D), (_, G, M, _) = query.shape, key.shape
    shape = (B, G, group(H, G, enable_gqa), N, M)
    mask = None if attn_mask is None else attn_mask.expand(B, H, N, M).reshape(shape)
    window = sight(is_causal, window_size)
    seen = visible(mask, window, slice(0, N), slice(0, M), query.device).expand(shape)
    q = laid_out(query, accumulator(query.dtype)).reshape(*shape[:3], N, D)
    s = factor(scale, D) * torch.einsum("bgric,bgjc->bgrij", q, read(key, seen, q.dtype))
    s = capped(s, softcap)
    if mask is not None and mask.dtype != torch.bool:
        s = s + mask.to(s.dtype)
    return s.masked_fill(~seen, -inf), seen


def read(x: Tensor, seen: Tensor, dtype: torch.dtype) -> Tensor:
    """Keys or values, zero if no query sees them: they may hold NaN, and 0 * NaN is NaN.

    x: (B, G, M, C)    seen: (B, G, R, N, M)
    """
    hidden = ~seen.any(dim=3).any(dim=2)
    return laid_out(x, dtype).masked_fill(hidden[..., None], 0)


def softmax(s: Tensor) -> Tensor:
    """exp(s_j) / sum_j exp(s_j) along the last axis; zero where every score is -inf."""
    if s.shape[-1] == 0:
        return s
    top = s.detach().amax(dim=-1, keepdim=True)  # a constant: a common shift changes nothing
    e = (s - top.masked_fill(top.isneginf(), 0)).exp()
    total = e.sum(dim=-1, keepdim=True)
    return e / total.masked_fill(total == 0, 1)


vars(attend).update(weights=weights, lse=lse)
