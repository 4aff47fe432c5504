"""Masks and score modifications of attention-gym, under torch's flex_attention.

The library supplies the masks (`causal_mask`, `generate_sliding_window`, `generate_doc_mask_mod`)
and the modification of scores (`generate_tanh_softcap`). They are combined by `and_masks`, as in
its examples. Its sliding window is causal. On a CPU there are no gradients.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from attn_gym.masks import causal_mask, generate_doc_mask_mod, generate_sliding_window
from attn_gym.mods import generate_alibi_bias, generate_tanh_softcap
from torch import Tensor
from torch.nn.attention.flex_attention import (
    AuxRequest,
    create_block_mask,
    flex_attention,
    noop_mask,
)

from spec.attention.contents import UNBOUNDED, Window


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window_size: Window = UNBOUNDED,
    softcap: float | None = None,
    return_lse: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).

    Raises ValueError if a window is not causal.
    """
    sight = _sight(is_causal, window_size)
    score = None if softcap is None else generate_tanh_softcap(softcap)
    out, lse = _flex(query, key, value, sight, score, scale, enable_gqa)
    return (out, lse) if return_lse else out


def packed(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,  # noqa: ARG001 - cu_seqlens contains it
    max_seqlen_k: int,  # noqa: ARG001
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
) -> Tensor:
    """q (tokens, H, D), k (tokens, G, D), v (tokens, G, E) give (tokens, H, E).

    Raises ValueError if the sequences of the queries are not those of the keys.
    """
    if not torch.equal(cu_seqlens_q, cu_seqlens_k) or len(q) != int(cu_seqlens_q[-1]):
        raise ValueError("a document has as many queries as keys, and there is nothing behind them")
    left, right = (None if bound < 0 else bound for bound in window_size)
    sight = generate_doc_mask_mod(_sight(causal, (left, right)), cu_seqlens_q)
    score = generate_tanh_softcap(softcap) if softcap else None
    query, key, value = (x.transpose(0, 1).unsqueeze(0) for x in (q, k, v))
    shared = q.shape[1] != k.shape[1]
    out, _ = _flex(query, key, value, sight, score, softmax_scale, shared)
    return out[0].transpose(0, 1)


def bias(heads: int, queries: int, keys: int) -> Tensor:
    """The bias that `generate_alibi_bias` adds to each score.   (heads, queries, keys)"""
    h, i, j = (torch.arange(n) for n in (heads, queries, keys))
    add = generate_alibi_bias(heads)
    return add(torch.zeros(()), 0, h[:, None, None], i[:, None], j)


def _sight(is_causal: bool, window: Window) -> Any:
    """The mask function of positions. Raises ValueError if a window is not causal."""
    left, right = window
    if left is None:
        if right not in (None, 0):
            raise ValueError("a sliding window is causal")
        return causal_mask if is_causal or right == 0 else noop_mask
    if right != 0 and not is_causal:
        raise ValueError("a sliding window is causal")
    return generate_sliding_window(left)


def _flex(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    sight: Any,
    score: Any,
    scale: float | None,
    enable_gqa: bool,
) -> tuple[Tensor, Tensor]:
    """The output and the log-sum-exp."""
    (B, H, N, _), M = query.shape, key.shape[2]
    block = create_block_mask(sight, B, H, N, M, device=str(query.device))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a warning that it is not compiled
        out, aux = flex_attention(
            query, key, value, score, block, scale, enable_gqa, return_aux=AuxRequest(lse=True)
        )
    assert aux.lse is not None
    return out, aux.lse
