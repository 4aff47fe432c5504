"""Hugging Face transformers' `eager_paged_attention_forward`, the eager function of its server.

Arrays are (batch, heads, length, width); keys and values are already gathered from their pages. The
adapter calls it with the arguments that a layer passes to the function of its family: those of
Gemma 2, with its soft-cap.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from torch import Tensor
from transformers.integrations.eager_paged import eager_paged_attention_forward


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - key heads are always shared
    softcap: float | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).

    attn_bias broadcasts to (B, H, N, M) and is added. sinks: (H,), which some layers have.
    """
    found: Tensor = _called(query, key, value, attn_bias, scale, softcap, sinks)[0]
    return found.transpose(1, 2)


def weights(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - as above
    softcap: float | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """The second result, the weights.   (B, H, N, M)"""
    found: Tensor = _called(query, key, value, attn_bias, scale, softcap, sinks)[1]
    return found


def _called(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None,
    scale: float | None,
    softcap: float | None,
    sinks: Tensor | None,
) -> Any:
    """Both results, the output and the weights."""
    caller = SimpleNamespace(num_key_value_groups=query.shape[1] // key.shape[1], training=False)
    if sinks is not None:
        caller.sinks = sinks
    scaling = query.shape[-1] ** -0.5 if scale is None else scale
    told = {"dropout": 0.0, "scaling": scaling, "softcap": softcap}
    return eager_paged_attention_forward(caller, query, key, value, attn_bias, **told)


attend.weights = weights  # type: ignore[attr-defined]
