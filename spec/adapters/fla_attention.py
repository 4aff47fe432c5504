"""Softmax attention of flash-linear-attention: its Triton kernel, in Triton's interpreter.

Arrays are (batch, length, heads, width), with as many queries as keys, and always causal. Key heads
are shared without an option. `attend` is the kernel and `packed` the same with cumulative lengths.
`naive` is its reference in torch. `forgetting` is the reference of an attention with a gate at each
token, whose kernel needs a GPU for tuning.
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
    enable_gqa: bool = False,  # noqa: ARG001 - fla always shares key heads
    sliding_window: int | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """query (B, N, H, D), key (B, N, G, D), value (B, N, G, E) give (B, N, H, E).

    sliding_window: the number of visible keys, including the key at the query's position. sinks:
    (H,).

    Raises ValueError if there are more or fewer queries than keys, which fla does not check.
    """
    _of_one_length(query, key)
    return parallel_attn(query, key, value, None, scale, sliding_window, sink_bias=sinks)


def packed(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,  # noqa: ARG001 - fla computes it from cu_seqlens
    max_seqlen_k: int,  # noqa: ARG001
    softmax_scale: float | None = None,
    sliding_window: int | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """q (tokens, H, D), k (tokens, G, D), v (tokens, G, E) give (tokens, H, E).

    Raises ValueError if the sequences of the queries are not those of the keys: fla has one
    cu_seqlens.
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
    """As `attend`. All tokens have the same gate: none, or the ALiBi slope of a head."""
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
    """As `attend`, by the reference that fla tests its kernel with. It can also be non-causal.

    The reference has a window too, but ignores it if the call is not causal.
    """
    return naive_parallel_attn(query, key, value, scale, None, is_causal, sink_bias=sinks)[0]


def _of_one_length(query: Tensor, key: Tensor) -> None:
    """Raise ValueError if there are more or fewer queries than keys."""
    if query.shape[:2] != key.shape[:2]:
        raise ValueError("fla's arrays are of one length")


CONVENTIONS = {"causality": "always", "lengths": "equal"}
attend.conventions = CONVENTIONS  # type: ignore[attr-defined]
packed.conventions = CONVENTIONS  # type: ignore[attr-defined]
forgetting.conventions = CONVENTIONS  # type: ignore[attr-defined]
naive.conventions = {"lengths": "equal"}  # type: ignore[attr-defined]
