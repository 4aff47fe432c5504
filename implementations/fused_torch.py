"""Attention tile by tile in torch, with a hand-written backward pass.

This is `implementations.fused` in torch: blocks of queries and keys, an output that is rescaled if
the largest score rises, and a backward pass that computes the weights of a tile again (Dao et al.
2022, algorithm 1). An attention sink is part of the state before the first tile. Scores are in
bits, as `implementations.tiles_torch` makes them.
"""

from collections.abc import Sequence
from math import log
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from implementations.arguments import UNBOUNDED, Window, factor, group, sight
from implementations.arguments_torch import (
    Pair,
    accumulator,
    add_to_mask,
    apart,
    by_slopes,
    labelled,
    laid_out,
    mixed,
    nonzero,
    places,
    reference,
)
from implementations.tiles_torch import How, blocks_of_queries, in_bits, positions
from implementations.tiling import places_of, texts_of
from spec.notation import Array


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
    """Return o_i = sum_j a_ij v_j, in memory that does not grow with N M.

    query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E). With return_lse,
    also return the log-sum-exp (B, H, N), not rounded, -inf for a fully masked query.
    The options and the exceptions are those of `implementations.dense.attend`. Float masks, ALiBi
    slopes and sinks get gradients, too.
    """
    options = is_causal, scale, enable_gqa, window_size, sink_size, softcap
    of_tokens = query_segments, key_segments, query_positions, key_positions
    asked = how(query, key, *options, *of_tokens)
    arrays = query, key, value, attn_mask, sinks, alibi_slopes
    both: tuple[Tensor, Tensor] = Fused.apply(*arrays, asked)  # type: ignore[no-untyped-call]
    return both if return_lse else both[0]


def lse(query: Tensor, key: Tensor, value: Tensor, **options: Any) -> Tensor:
    """Return log (exp(t_h) + sum_j exp(s_ij)), not rounded; -inf if fully masked.   (B, H, N)"""
    return attend(query, key, value, **options, return_lse=True)[1]


def how(
    query: Tensor,
    key: Tensor,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window_size: Window = UNBOUNDED,
    sink_size: int = 0,
    softcap: float | None = None,
    query_segments: Tensor | None = None,
    key_segments: Tensor | None = None,
    query_positions: Tensor | None = None,
    key_positions: Tensor | None = None,
) -> How:
    """Return the options that are not differentiated, checked, as one record."""
    (B, H, N, D), (_, G, M, _) = query.shape, key.shape
    R, window = group(H, G, enable_gqa), sight(is_causal, window_size, sink_size)
    texts = texts_of(read(labelled(query_segments, key_segments, (B, N, M))), B)
    stand = places_of(read(places(query, key, query_positions, key_positions)), B)
    return How(window, factor(scale, D), R, softcap, texts, stand)


def read(pair: Pair | None) -> tuple[Array, Array] | None:
    """Return the pair as NumPy arrays, which `tiling` needs."""
    return None if pair is None else (pair[0].numpy(force=True), pair[1].numpy(force=True))


class Fused(torch.autograd.Function):
    """Attention whose backward pass computes the weights again."""

    @staticmethod
    def forward(
        ctx: Any,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None,
        sinks: Tensor | None,
        slopes: Tensor | None,
        how: How,
    ) -> tuple[Tensor, Tensor]:
        """Return o (B, H, N, E) in the dtype of q, and lse (B, H, N)."""
        o, m, t = passed(q, k, v, mask, sinks, slopes, how)
        ctx.how = how
        ctx.save_for_backward(q, k, v, mask, sinks, slopes, o, m, t)
        return o.to(q.dtype), log(2) * (reference(m) + t.log2())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dout: Tensor, dlse: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of <dout, o> + <dlse, lse>, for mask, sinks and slopes if needed."""
        q, k, v, mask, sinks, slopes, *forward = ctx.saved_tensors
        of_mask, of_sinks, of_slopes = ctx.needs_input_grad[3:6]
        back = dout, (laid_out(dout, dlse.dtype) * forward[0]).sum(-1) - dlse
        found = gradients(back, q, k, v, mask, slopes, forward, of_mask, of_slopes, ctx.how)
        dsinks = by_sinks(back[1], sinks, *forward[1:]) if of_sinks else None
        return *found[:4], dsinks, found[4], None


def passed(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    sinks: Tensor | None,
    slopes: Tensor | None,
    how: How,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return output (B, H, N, E), largest score m in bits and total t (B, H, N), not rounded."""
    o = query.new_zeros(*query.shape[:3], value.shape[3], dtype=accumulator(query.dtype))
    m = in_bits(sinks, o).repeat(query.shape[0], 1, query.shape[2], 1)
    t = (m - reference(m)).exp2_()
    for at, _, _, _, v, tiles in blocks_of_queries(query, key, value, attn_mask, slopes, how):
        for cols, s, seen, _ in tiles:
            absorb(s, v[cols], seen, o[at], m[at], t[at])
        o[at].div_(nonzero(t[at]))
    return o, m[..., 0], t[..., 0]


def gradients(
    back: tuple[Tensor, Tensor],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    slopes: Tensor | None,
    forward: Sequence[Tensor],
    of_mask: bool,
    of_slopes: bool,
    how: How,
) -> tuple[Tensor | None, ...]:
    """Return the gradients for query, key, value and, if requested, mask and slopes.

    back: dout, and <dout_i, o_i> - dlse_i (B, H, N). forward: the results of `passed`.
    """
    (dout, rows), (o, m, t), sigma = back, forward, how.sigma
    dq, dk, dv = (torch.zeros_like(x, dtype=o.dtype) for x in (query, key, value))
    dmask = (
        torch.zeros_like(attn_mask, dtype=o.dtype) if of_mask and attn_mask is not None else None
    )
    moment = o.new_zeros(o.shape[:2])
    for at, g, q, k, v, tiles in blocks_of_queries(query, key, value, attn_mask, slopes, how):
        do = laid_out(dout[at], o.dtype)
        mean, share = rows[at][:, None], 1 / nonzero(t[at])[:, None]
        for cols, e, seen, slope in tiles:
            e.sub_(reference(m[at])[:, None]).exp2_()
            z = weighted(e, do, v[cols], mean, seen)
            if dmask is not None:
                add_to_mask(dmask, z * share, at, cols)
            if of_slopes:
                pair = positions(how.places[at[0]], at[2], cols, z.device)
                moment[at[:2]] += (z * share).mul_(apart(at[2], cols, z, pair)).sum()
            if slope is not None:
                z *= slope
            dq[at] += mixed(z, k[cols], seen)
            dk[g][cols].addmm_(z.T, q * (sigma * share))
            dv[g][cols].addmm_(e.T, do * share)
        dq[at] *= sigma * share
    dslopes = by_slopes(moment, slopes) if of_slopes and slopes is not None else None
    pairs = ((dq, query), (dk, key), (dv, value), (dmask, attn_mask), (dslopes, slopes))
    return tuple(None if dx is None or x is None else dx.to(x.dtype) for dx, x in pairs)


def by_sinks(rows: Tensor, sinks: Tensor, m: Tensor, t: Tensor) -> Tensor:
    """Return -sum_bi exp(t_h - lse_bhi) rows_bhi, in the dtype of the sinks.   (H,)"""
    share = (in_bits(sinks, m)[..., 0] - reference(m)).exp2_() / nonzero(t)
    return -(share * rows).sum((0, 2)).to(sinks.dtype)


def absorb(s: Tensor, v: Tensor, seen: Tensor | None, o: Tensor, m: Tensor, t: Tensor) -> None:
    """Add the keys of one tile to the output o, the largest score m and the total t, in place.

    s: (n, keys), overwritten    v: (keys, E)    o: (n, E)    m, t: (n, 1)
    """
    top = torch.maximum(m, s.amax(dim=-1, keepdim=True))
    if not torch.equal(top, m):
        fade = (m - reference(top)).exp2_()
        o *= fade
        t *= fade
        m.copy_(top)
    s.sub_(reference(m)).exp2_()
    t += s.sum(dim=-1, keepdim=True)
    o += mixed(s, v, seen)


def weighted(e: Tensor, do: Tensor, v: Tensor, mean: Tensor, seen: Tensor | None) -> Tensor:
    """Return z_ij = e_ij (<dout_i, v_j> - mean_i).   (n, keys)"""
    z = do @ v.T
    if seen is not None:
        z.masked_fill_(~seen, 0)
    return z.sub_(mean).mul_(e)
