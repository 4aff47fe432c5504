"""Attention tile by tile in Triton, on a GPU, or on a CPU in Triton's interpreter.

    o_i = sum_j exp2(s_ij - m_i) v_j / l_i    l_i = sum_j exp2(s_ij - m_i)

m_i is the largest score so far. If it rises, the output so far is scaled down (Milakov and
Gimelshein 2018, algorithm 3; Dao et al. 2022, algorithm 1). The backward pass computes the weights
again from the log-sum-exp, as exp2(s_ij - lse_i) (Dao 2023, algorithm 2). Products of 16-bit
numbers are summed in float32. Weights are rounded to the dtype of the values before the product
with them.
"""

from math import log
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from implementations.arguments import UNBOUNDED, Window, factor, group, positive, sight
from implementations.arguments_torch import accumulator, by_slopes, labelled, places, sunk
from implementations.gradients_triton import by_keys, by_queries
from implementations.kernels_triton import forward, inner
from implementations.launching_triton import Asked, keywords, launch

STEP = 16  # a multiple of the numbers that one wide load reads


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
    The options and the exceptions are those of `implementations.dense.attend`; float64 on a GPU
    raises TypeError. Float masks, ALiBi slopes and sinks get gradients, too; the gradient of a mask
    takes memory of N M.
    """
    (B, H, N, D), (_, G, M, _) = query.shape, key.shape
    R, window = group(H, G, enable_gqa), sight(is_causal, window_size, sink_size)
    texts = labelled(query_segments, key_segments, (B, N, M))
    stand = places(query, key, query_positions, key_positions)
    if stand is not None:
        stand = stand[0].expand(B, 1, N, 1)[:, 0, :, 0], stand[1].expand(B, 1, 1, M)[:, 0, 0]
    if softcap is not None:
        positive(softcap)
    if query.dtype == torch.float64 and query.is_cuda:
        raise TypeError("float64 is computed in Triton's interpreter alone, on a CPU")
    asked = Asked(window, factor(scale, D), R, softcap, texts, stand, return_lse)
    arrays = *(padded(x) for x in (query, key, value)), attn_mask, sinks, alibi_slopes
    o, lse = Fused.apply(*arrays, asked)  # type: ignore[no-untyped-call]
    o = o[..., : value.shape[3]].contiguous()
    return (o, lse) if return_lse else o


def lse(query: Tensor, key: Tensor, value: Tensor, **options: Any) -> Tensor:
    """Return log (exp(t_h) + sum_j exp(s_ij)), not rounded; -inf if fully masked.   (B, H, N)"""
    return attend(query, key, value, **options, return_lse=True)[1]


def padded(x: Tensor) -> Tensor:
    """Return x with zeros after its last axis, up to a multiple of 16.   (B, H, N, C)"""
    return pad(x, (0, -x.shape[3] % STEP)) if x.shape[3] % STEP else x


def aligned(x: Tensor) -> Tensor:
    """Return x, or a copy of it whose rows can be loaded with wide loads.

    Wide loads need rows at multiples of 16 bytes, and strides that are multiples of 16: the
    compiler knows only whether 16 divides a stride. Otherwise numbers are loaded one by one, which
    is slower; and values in rows of 9 gave another output (bfloat16, Triton 3.6.0, an H200).
    """
    steps = zip(x.shape, x.stride(), strict=True)
    whole = all(step % STEP == 0 for n, step in list(steps)[:-1] if n > 1)
    at_once = whole and x.stride(-1) == 1 and x.data_ptr() % 16 == 0
    return x if at_once else x.clone(memory_format=torch.contiguous_format)


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
        asked: Asked,
    ) -> tuple[Tensor, Tensor]:
        """Return o (B, H, N, E) in the dtype of q, and lse (B, H, N), in bits unless requested.

        For small inputs the launch takes most of the time, so there is little work outside the
        kernel.
        """
        q, k, v = (aligned(x) for x in (q, k, v))
        (B, H, N, _), o = q.shape, q.new_empty(*q.shape[:3], v.shape[3])
        bits = q.new_empty(B, H, N, dtype=accumulator(q.dtype))
        told = keywords(q, k, v, mask, slopes, asked)
        t = bits if sinks is None else sunk(sinks, H, bits)
        told |= {"sigma": abs(asked.sigma), "FLIP": asked.sigma < 0}
        told |= {"sinks": t, "sunk": 0 if sinks is None else H}
        launch(forward, N, B * H, told, o=o, lse=bits)
        ctx.asked = asked
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(q, k, v, mask, sinks, slopes, o, bits)
        return o, log(2) * bits if asked.lse else bits

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dout: Tensor | None, dlse: Tensor | None) -> tuple[Tensor | None, ...]:
        """Return the gradients of <dout, o> + <dlse, lse>, for mask, sinks and slopes if needed."""
        q, k, v, mask, sinks, slopes, o, bits = ctx.saved_tensors
        (B, H, N, _), (_, G, M, _) = q.shape, k.shape
        dout = torch.zeros_like(o) if dout is None else aligned(dout.contiguous())
        dlse, rows = None if dlse is None else dlse.contiguous(), torch.empty_like(bits)
        told = keywords(q, k, v, mask, slopes, ctx.asked)
        launch(inner, N, B * H, told, dout=dout, o=o, dlse=dlse, rows=rows)
        told |= {"lse": bits, "rows": rows, "dout": dout}
        dq, dk, dv = (torch.empty_like(x, memory_format=torch.contiguous_format) for x in (q, k, v))
        of_mask, of_sinks, of_slopes = ctx.needs_input_grad[3:6]
        dmask = bits.new_zeros(B, H, N, M) if of_mask else None
        moment = torch.zeros_like(bits) if of_slopes else None
        launch(by_queries, N, B * H, told, dq=dq, dmask=dmask, moment=moment)
        launch(by_keys, M, B * G, told, dk=dk, dv=dv)
        dmask = None if dmask is None else dmask.sum_to_size(mask.shape).to(mask.dtype)
        dsinks = by_sinks(rows, sinks, bits) if of_sinks else None
        dslopes = None if moment is None else by_slopes(moment.sum(-1), slopes).to(slopes.dtype)
        return dq, dk, dv, dmask, dsinks, dslopes, None


def by_sinks(rows: Tensor, sinks: Tensor, bits: Tensor) -> Tensor:
    """Return -sum_bi exp(t_h - lse_bhi) rows_bhi, in the dtype of the sinks.   (H,)"""
    t = sunk(sinks, bits.shape[1], bits)[:, None]
    share = (t - log(2) * bits.masked_fill(bits.isneginf(), 0)).exp()
    return -(share * rows).sum((0, 2)).to(sinks.dtype)
