"""The definition in torch float64, with gradients by autograd.

The closed-form gradients of `spec.attention.definition` are checked against these, which nobody
derived by hand. Everything is computed in float64, whatever the dtype, and rounded once at the end.
"""

from math import inf, sqrt
from typing import Any

import torch
from torch import Tensor

Window = tuple[int | None, int | None]
UNBOUNDED: Window = (None, None)


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
    """Return o_i = sum_j a_ij v_j, with gradients for float masks, sinks and slopes, too.

    query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E). With return_lse,
    also return the log-sum-exp (B, H, N) in float64, -inf for a fully masked query.
    attn_mask broadcasts to (B, H, N, M): a bool mask is True where i may attend to j, a float mask
    is added to the scores. is_causal masks keys j > i. window_size (left, right) masks
    j > i + right and j < i - left, except the leading keys j < sink_size; None is no bound. softcap
    c replaces a score s by c tanh(s / c) before anything is added. sinks (H,) are scores in the
    softmax that have no value. alibi_slopes m, (H,) or (B, H), add -m |i - j|. query_segments
    (B, N) and key_segments (B, M) are integers: a query may attend only to keys of its segment, and
    to no key of a negative one. query_positions (B, N) and key_positions (B, M) are integers that
    replace i and j. The output of a fully masked query is zero.
    Raises ValueError if H and G differ without enable_gqa, or G does not divide H; if a bound is
    negative, or softcap not positive; if sinks are not one number below inf for each head; if
    slopes are not finite, or have another shape; if segments or positions have another shape, or
    are not integers; if only one of two segments is given.
    """
    asked = attn_mask, is_causal, scale, enable_gqa, window_size, sink_size, softcap, alibi_slopes
    of_tokens = query_segments, key_segments, query_positions, key_positions
    s, seen = scores(query, key, *asked, *of_tokens)
    # Filled a second time, so that no gradient reaches a masked weight.
    a, lse = softmax(beside(s, sinks))
    a = a[..., : key.shape[2]].masked_fill(~seen, 0)
    v = read(shared(value.double(), query.shape[1], enable_gqa), seen)
    o = (a @ v).to(query.dtype)
    return (o, lse) if return_lse else o


def weights(
    query: Tensor,
    key: Tensor,
    value: Tensor,  # noqa: ARG001 - the signature of attend; weights do not depend on values
    sinks: Tensor | None = None,
    **options: Any,
) -> Tensor:
    """Return a_ij = exp(s_ij) / (exp(t_h) + sum_j exp(s_ij)).   (B, H, N, M)"""
    s, _ = scores(query, key, **options)
    return softmax(beside(s, sinks))[0][..., : key.shape[2]].to(query.dtype)


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
    """Return s_ij = cap(scale <q_i, k_j>) + b_ij - m |i - j|, -inf if masked, and visible pairs."""
    q, k = query.double(), shared(key.double(), query.shape[1], enable_gqa)
    seen = torch.ones(*q.shape[:3], k.shape[2], dtype=torch.bool, device=q.device)
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        seen = seen & attn_mask
    elif attn_mask is not None:
        seen = seen & ~attn_mask.isneginf()
    if query_segments is not None or key_segments is not None:
        seen = seen & together(query_segments, key_segments, seen)
    away = ahead(query_positions, key_positions, seen)
    first = begins(key_positions, sink_size, seen)
    seen = seen & near(away, is_causal, window_size, first)
    s = (1 / sqrt(q.shape[-1]) if scale is None else scale) * (q @ read(k, seen).mT)
    if softcap is not None:
        if not 0 < softcap < inf:
            raise ValueError(f"a cap is positive and finite, which {softcap} is not")
        s = softcap * (s / softcap).tanh()
    if attn_mask is not None and attn_mask.dtype != torch.bool:
        s = s + attn_mask.double()
    if alibi_slopes is not None:
        s = s - lost(alibi_slopes, away, s)
    return s.masked_fill(~seen, -inf), seen


def ahead(p: Tensor | None, r: Tensor | None, seen: Tensor) -> Tensor:
    """Return how far key j is ahead of query i, by positions or rows.   (B or 1, 1, N, M)

    seen: (B, H, N, M)
    """
    B, _, N, M = seen.shape
    for x, shape in ((p, (B, N)), (r, (B, M))):
        if x is not None and (x.shape != shape or x.is_floating_point() or x.dtype == torch.bool):
            raise ValueError(f"positions are integers {shape}, not {x.dtype} {tuple(x.shape)}")
    i = torch.arange(N, device=seen.device)[None] if p is None else p.long()
    j = torch.arange(M, device=seen.device)[None] if r is None else r.long()
    return (j[:, None] - i[..., None])[:, None]


def begins(r: Tensor | None, count: int, seen: Tensor) -> Tensor:
    """Return True for the leading keys, by positions or row numbers.   (B or 1, 1, 1, M)

    Raises ValueError if their number is negative.
    """
    if count < 0:
        raise ValueError(f"sink_size is a number of keys from 0 up, not {count}")
    j = torch.arange(seen.shape[-1], device=seen.device)[None] if r is None else r
    return ((j < count) & (count > 0))[:, None, None]


def near(away: Tensor, is_causal: bool, window_size: Window, first: Tensor) -> Tensor:
    """Return True for distances of a key ahead of a query that causality and the window allow."""
    left, right = window_size
    if (left or 0) < 0 or (right or 0) < 0:
        raise ValueError(f"a window has no negative bound, which {window_size} has")
    seen = away <= (0 if is_causal else inf)
    seen = seen if left is None else seen & ((away >= -left) | first)
    return seen if right is None else seen & (away <= right)


def together(mine: Tensor | None, theirs: Tensor | None, seen: Tensor) -> Tensor:
    """Return True where query and key have the same segment, not negative.   (B, 1, N, M)"""
    if mine is None or theirs is None:
        raise ValueError("segments are given of queries and keys, or of neither")
    B, _, N, M = seen.shape
    for x, shape in ((mine, (B, N)), (theirs, (B, M))):
        if x.shape != shape or x.is_floating_point() or x.dtype == torch.bool:
            raise ValueError(f"segments are integers {shape}, not {x.dtype} {tuple(x.shape)}")
    both = torch.eq(mine[:, None, :, None], theirs[:, None, None, :])
    return both & (theirs >= 0)[:, None, None, :]


def lost(slopes: Tensor, away: Tensor, s: Tensor) -> Tensor:
    """Return m_h |i - j|.   (B or 1, H, N, M)"""
    B, H = s.shape[:2]
    if slopes.shape not in ((H,), (B, H)) or not slopes.isfinite().all():
        raise ValueError(f"slopes are finite numbers of the shape {(H,)} or {(B, H)}")
    return slopes.double().reshape(-1, H, 1, 1) * away.abs()


def read(x: Tensor, seen: Tensor) -> Tensor:
    """Return keys or values with zeros where no query may attend to them.

    Such keys may hold NaN, and 0 * NaN is NaN.   x: (B, H, M, C)    seen: (B, H, N, M)
    """
    return x.masked_fill(~seen.any(dim=-2)[..., None], 0)


def beside(s: Tensor, sinks: Tensor | None) -> Tensor:
    """Return the scores, with those of the attention sinks after them.   (B, H, N, M or M + 1)"""
    if sinks is None:
        return s
    H = s.shape[1]
    if sinks.shape != (H,) or not (sinks < inf).all():
        raise ValueError(f"sinks are a number below inf for each of {H} heads")
    return torch.cat([s, sinks.double()[:, None, None].expand(*s.shape[:-1], 1)], dim=-1)


def softmax(s: Tensor) -> tuple[Tensor, Tensor]:
    """Return exp(s_j) / sum_j exp(s_j) along the last axis, and the logarithm of that sum.

    If every score is -inf, these are the constants zero and -inf.
    """
    if s.shape[-1] == 0:
        return s, s.new_full(s.shape[:-1], -inf)
    top = s.detach().amax(dim=-1, keepdim=True)  # a constant: a common shift changes nothing
    top = top.masked_fill(top.isneginf(), 0)
    e = (s - top).exp()
    total = e.sum(dim=-1, keepdim=True)
    some = total.masked_fill(total == 0, 1)
    lse = (top + some.log()).masked_fill(total == 0, -inf)
    return e / some, lse[..., 0]


def shared(x: Tensor, H: int, enable_gqa: bool) -> Tensor:
    """Return key heads repeated for their query heads: (B, G, ...) to (B, H, ...)."""
    G = x.shape[1]
    if H == G:
        return x
    if not (enable_gqa and 0 < G < H) or H % G:
        raise ValueError(f"{H} query heads cannot share {G} key heads (enable_gqa={enable_gqa})")
    return x.repeat_interleave(H // G, dim=1)


vars(attend).update(weights=weights)
