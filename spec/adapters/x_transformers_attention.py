"""x-transformers: its module `Attend`, composed (`attend`), by torch's kernel (`flash`, `called`).

Arrays are (batch, heads, length, width). `Attend` is built for each call, because causality, scale
and soft-cap are arguments of its constructor. Attention sinks are its parameter, and ALiBi slopes
are the buffer of its `AlibiPositionalBias`. Boolean masks are called `mask`, where True is visible,
and additive ones `attn_bias`. It accepts one bias only, so slopes together with an additive mask
raise an exception here. Key heads are shared without an option.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.func import functional_call
from x_transformers.attend import Attend
from x_transformers.x_transformers import AlibiPositionalBias


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - it always shares key heads
    softcap: float | None = None,
    sinks: Tensor | None = None,
    alibi_slopes: Tensor | None = None,
) -> Tensor:
    """query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).

    attn_mask broadcasts to (B, H, N, M); sinks, alibi_slopes: (H,). Raises ValueError for two
    biases.
    """
    arrays = query, key, value
    return _composed(arrays, attn_mask, is_causal, scale, softcap, sinks, alibi_slopes)[0]


def weights(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - as above
    softcap: float | None = None,
    sinks: Tensor | None = None,
    alibi_slopes: Tensor | None = None,
) -> Tensor:
    """The result of the softmax, without the column of an attention sink.   (B, H, N, M)"""
    arrays = query, key, value
    _, found = _composed(arrays, attn_mask, is_causal, scale, softcap, sinks, alibi_slopes)
    return found if sinks is None else found[..., 1:]


def flash(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - as above
    alibi_slopes: Tensor | None = None,
) -> Tensor:
    """As `attend`, by torch's `scaled_dot_product_attention`, without soft-cap and sinks."""
    told = _told(query, key, attn_mask, alibi_slopes)
    out, _ = Attend(flash=True, causal=is_causal, scale=scale)(query, key, value, **told)
    return out


def called(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - as above
) -> Tensor:
    """As `flash`, with causality as an argument of the call, and not of the constructor."""
    told = _told(query, key, attn_mask, None)
    out, _ = Attend(flash=True, scale=scale)(query, key, value, causal=is_causal, **told)
    return out


def _composed(
    arrays: tuple[Tensor, Tensor, Tensor],
    attn_mask: Tensor | None,
    is_causal: bool,
    scale: float | None,
    softcap: float | None,
    sinks: Tensor | None,
    alibi_slopes: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """The output and the result of the softmax."""
    query, key, _ = arrays
    told = _told(query, key, attn_mask, alibi_slopes)
    words: dict[str, Any] = {"causal": is_causal, "scale": scale}
    if softcap is not None:
        words |= {"softclamp_logits": True, "logit_softclamp_value": softcap}
    if sinks is not None:
        words |= {"head_learned_sink": True, "heads": query.shape[1]}
    parameters = {} if sinks is None else {"head_attn_sink": sinks}
    out, beside = functional_call(Attend(**words), parameters, arrays, told)
    return out, beside.post_softmax_attn


def _told(
    query: Tensor, key: Tensor, attn_mask: Tensor | None, slopes: Tensor | None
) -> dict[str, Tensor]:
    """The mask and the slopes, by their parameter names. Raises ValueError for two biases."""
    (B, H, N, _), M = query.shape, key.shape[2]
    told = {}
    if attn_mask is not None:  # a mask of two axes would be read as (batch, keys)
        kind = "mask" if attn_mask.dtype == torch.bool else "attn_bias"
        told[kind] = attn_mask.expand(B, H, N, M)
    if slopes is not None:
        if "attn_bias" in told:
            raise ValueError("there is one bias, of slopes or of a mask")
        buffers = {"slopes": slopes.reshape(H, 1, 1)}
        module = AlibiPositionalBias(heads=H)
        told["attn_bias"] = functional_call(module, buffers, (N, M)).to(query.dtype)
    return told


vars(attend).update(weights=weights)
