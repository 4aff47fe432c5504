"""LitGPT's `CausalSelfAttention`: its attention method, its forward pass, and its cache.

Arrays are (batch, heads, length, width). `attend` is the method `scaled_dot_product_attention`.
Without a mask it is causal, so a non-causal call passes a mask of True, as the caches of LitGPT do
(`build_mask_cache`). `forward` is the forward pass of the layer without projections and rotation:
its input is queries, keys and values, concatenated. It shares key heads, supports windows, and is
always causal. `Cached` is the same with the `KVCache` of LitGPT, as `GPT` calls it. `Capped` adds a
soft-cap, as in Gemma 2. The scale belongs to a model, not to a call.
"""

from __future__ import annotations

from typing import Any

import torch
from litgpt import Config
from litgpt.model import CausalSelfAttention, build_mask_cache
from torch import Tensor, nn

CAP = 50.0  # the soft-cap of Gemma 2


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    softcap: float | None = None,
) -> Tensor:
    """query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E).

    attn_mask broadcasts to (B, H, N, M). Raises ValueError for a mask together with causality.
    """
    if attn_mask is not None and is_causal:
        raise ValueError("a mask takes the place of causality")
    if attn_mask is None and not is_causal:
        attn_mask = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool)
    layer = _layer(query, query.shape[1], attention_logit_softcapping=softcap)
    return layer.scaled_dot_product_attention(query, key, value, attn_mask).transpose(1, 2)


def forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    is_causal: bool = True,
    enable_gqa: bool = False,  # noqa: ARG001 - it always shares key heads
    sliding_window: int | None = None,
    softcap: float | None = None,
) -> Tensor:
    """query (B, H, N, D), key (B, G, N, D), value (B, G, N, D) give (B, H, N, D), causal.

    sliding_window: the number of visible keys, including the key at the query's position. Raises
    ValueError if the call is not causal.
    """
    if not is_causal:
        raise ValueError("it is causal")
    words = {"attention_logit_softcapping": softcap} | _windowed(sliding_window)
    return _passed(_layer(query, key.shape[1], **words), query, key, value)


class Cached:
    """A batch of sequences of one length, read by `forward`, with the KV cache of LitGPT."""

    words: dict[str, Any] = {}  # noqa: RUF012 - options of the model's configuration

    def __init__(
        self,
        batch: int,
        heads: int,
        key_heads: int,
        capacity: int,
        width: int,
        dtype: torch.dtype,
        window: int | None = None,
    ) -> None:
        words = self.words | _windowed(window)
        self.layer = _layer(torch.empty(batch, heads, 0, width), key_heads, **words)
        self.layer.kv_cache = self.layer.build_kv_cache(
            batch, capacity, rope_cache_length=0, dtype=dtype
        )
        self.mask, self.length = build_mask_cache(capacity), 0

    def extend(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Append n tokens and attend: query (B, H, n, D) gives (B, H, n, D)."""
        first, self.length = self.length, self.length + query.shape[2]
        places = torch.arange(first, self.length)
        mask = self.mask[:, :, places, : self.length]
        return _passed(self.layer, query, key, value, mask, places, self.length)

    def rollback(self, lengths: int) -> None:
        """Keep only the first `lengths` tokens; later tokens overwrite the others."""
        self.length = int(lengths)


class Capped(Cached):
    """As `Cached`, with a soft-cap that hardly changes scores of a few units."""

    words = {"attention_logit_softcapping": CAP}  # noqa: RUF012 - as above


def _windowed(window: int | None) -> dict[str, Any]:
    """The configuration of a model whose tokens see `window` keys, including their own."""
    if window is None:
        return {}
    return {"sliding_window_size": window, "sliding_window_indices": [1]}


def _layer(query: Tensor, key_heads: int, **words: Any) -> CausalSelfAttention:
    """A layer for arrays of these sizes, without projections and without rotation."""
    _, H, _, D = query.shape
    sizes: dict[str, Any] = {"n_head": H, "n_query_groups": key_heads, "head_size": D}
    config = Config(n_layer=1, n_embd=H, rotary_percentage=0.0, **sizes, **words)
    with torch.device("meta"):  # no projection is used
        layer = CausalSelfAttention(config, 0)
    layer.qkv, layer.proj = nn.Identity(), nn.Identity()
    return layer


def _passed(
    layer: CausalSelfAttention, query: Tensor, key: Tensor, value: Tensor, *how: Any
) -> Tensor:
    """The output of a layer for queries, keys and values, concatenated as by its projection."""
    (B, H, N, D), none = query.shape, query.new_empty(1, query.shape[2], 0)
    x = torch.cat([y.transpose(1, 2).reshape(B, N, -1) for y in (query, key, value)], dim=-1)
    return layer(x, none, none, *how).reshape(B, N, H, D).transpose(1, 2)
