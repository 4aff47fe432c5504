"""Hugging Face transformers' `flex_attention_forward`, given a mask of numbers as it is.

Arrays are (batch, heads, length, width). Where its models make no BlockMask, which
`transformers_masked_attention` has judged, a mask is an array that is added, (batch, heads,
queries, keys), as the functions for "eager" and "sdpa" take it.
"""

from __future__ import annotations

from types import SimpleNamespace

import torch
from torch import Tensor
from transformers.integrations.flex_attention import flex_attention_forward


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - heads share keys without being asked
    softcap: float | None = None,
) -> Tensor:
    """query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).

    attn_bias broadcasts to (B, H, N, M), and is handed on as that.
    """
    mask = None
    if attn_bias is not None:
        mask = attn_bias.expand(*query.shape[:3], key.shape[2])
    told = {"scaling": scale, "softcap": softcap}
    with torch.compiler.set_stance("force_eager"):
        layer = SimpleNamespace(training=False)
        out, _ = flex_attention_forward(layer, query, key, value, mask, **told)
    found: Tensor = out.transpose(1, 2)
    return found
