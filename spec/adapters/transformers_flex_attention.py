"""Hugging Face transformers' `flex_attention_forward` with an additive mask, passed unchanged.

Arrays are (batch, heads, length, width). If models make no BlockMask (see
`transformers_masked_attention` for those), a mask is an additive array (batch, heads, queries,
keys), as the functions for "eager" and "sdpa" accept it.
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
    enable_gqa: bool = False,  # noqa: ARG001 - key heads are always shared
    softcap: float | None = None,
) -> Tensor:
    """query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).

    attn_bias broadcasts to (B, H, N, M), and is passed on in that shape.
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
