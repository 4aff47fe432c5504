"""Softmax attention of flash-linear-attention: its Triton kernel, in Triton's interpreter.

Arrays are (batch, length, heads, width), of as many queries as keys; all of it is causal. Key heads
are shared without being asked for. `attend` is the kernel, `packed` the same with cumulative
lengths, and `naive` its reference in torch; `forgetting` is the reference of one with a gate at
each token, whose kernel is tuned on a GPU before it runs.
"""

from __future__ import annotations

import os

os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported: kernels run on a CPU

import torch
from fla.ops.attn.naive import naive_parallel_attn
from fla.ops.attn.parallel import parallel_attn
from fla.ops.forgetting_attn.naive import naive_forgetting_attn
from torch import Tensor


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - fla shares key heads without being asked
    sliding_window: int | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """query (B, N, H, D), key (B, N, G, D), value (B, N, G, E) give (B, N, H, E).

    sliding_window counts keys, the query's own among them; sinks (H,).
    Raises ValueError: more or fewer queries than keys, which fla does not look at.
    """
    _of_one_length(query, key)
    return parallel_attn(query, key, value, None, scale, sliding_window, sink_bias=sinks)


def packed(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,  # noqa: ARG001 - fla reads it off the lengths
    max_seqlen_k: int,  # noqa: ARG001
    softmax_scale: float | None = None,
    sliding_window: int | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """q (tokens, H, D), k (tokens, G, D), v (tokens, G, E) give (tokens, H, E).

    Raises ValueError: the texts of the queries are not those of the keys, for fla is told once.
    """
    if not torch.equal(cu_seqlens_q, cu_seqlens_k):
        raise ValueError("a text has as many queries as keys, as fla has it")
    one = (x.unsqueeze(0) for x in (q, k, v))
    starts = cu_seqlens_q.long()
    return parallel_attn(
        *one, None, softmax_scale, sliding_window, cu_seqlens=starts, sink_bias=sinks
    ).squeeze(0)


def forgetting(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - as above
    sliding_window: int | None = None,
    alibi_slopes: Tensor | None = None,
) -> Tensor:
    """As `attend`. What each token forgets is the same for all: nothing, or the slope of a head."""
    _of_one_length(query, key)
    B, N, H, _ = query.shape
    if alibi_slopes is None:
        alibi_slopes = torch.zeros(H)
    slopes = alibi_slopes if alibi_slopes.ndim == 2 else alibi_slopes.expand(B, H)
    gates = -slopes.unsqueeze(1).expand(B, N, H)
    return naive_forgetting_attn(query, key, value, gates, scale, sliding_window)


def naive(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - as above
    sinks: Tensor | None = None,
) -> Tensor:
    """As `attend`, by the reference that fla tests its kernel with, which can do without causality.

    It has a window too, which it leaves out where it is not causal.
    """
    return naive_parallel_attn(query, key, value, scale, None, is_causal, sink_bias=sinks)[0]


def _of_one_length(query: Tensor, key: Tensor) -> None:
    """Raises ValueError: more or fewer queries than keys."""
    if query.shape[:2] != key.shape[:2]:
        raise ValueError("fla's arrays are of one length")


CONVENTIONS = {"causality": "always", "lengths": "equal"}
attend.conventions = CONVENTIONS  # type: ignore[attr-defined]
packed.conventions = CONVENTIONS  # type: ignore[attr-defined]
forgetting.conventions = CONVENTIONS  # type: ignore[attr-defined]
naive.conventions = {"lengths": "equal"}  # type: ignore[attr-defined]
