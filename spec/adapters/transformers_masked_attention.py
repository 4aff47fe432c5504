"""Hugging Face transformers' attention as its models call it: make a mask, then call a function.

Arrays are (batch, heads, length, width). `transformers.masking_utils` makes the masks, as in the
models. If a causal call has more keys than queries, the additional keys are in a cache, as in
decoding. A window is the number of visible keys, including the key at the query's position, and
none after it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedConfig
from transformers.cache_utils import DynamicCache
from transformers.integrations.flex_attention import flex_attention_forward
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import (
    create_bidirectional_mask,
    create_causal_mask,
    create_sliding_window_causal_mask,
    packed_sequence_mask_function,
)
from transformers.models.gemma2.modeling_gemma2 import eager_attention_forward

FUNCTIONS: dict[str, Any] = {
    "eager": eager_attention_forward,
    "sdpa": sdpa_attention_forward,
    "flex_attention": flex_attention_forward,
}
Sight = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]  # b, h, i, j


def sdpa(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - key heads are always shared
    sliding_window: int | None = None,
    query_segments: Tensor | None = None,
    key_segments: Tensor | None = None,
) -> Tensor:
    """query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).

    attn_mask: booleans, the same for all heads. Queries and keys have the same segments. Raises
    ValueError for other masks and segments, and for a causal call with fewer keys than queries.
    """
    texts = _of_both(query_segments, key_segments)
    return _attended("sdpa", query, key, value, attn_mask, is_causal, scale, sliding_window, texts)


def eager(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - as above
    sliding_window: int | None = None,
    softcap: float | None = None,
    query_segments: Tensor | None = None,
    key_segments: Tensor | None = None,
) -> Tensor:
    """As `sdpa`, by the eager function of Gemma 2, which has a soft-cap."""
    texts = _of_both(query_segments, key_segments)
    given = (query, key, value, attn_mask, is_causal, scale, sliding_window, texts)
    return _attended("eager", *given, softcap=softcap)


def flex(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - as above
    sliding_window: int | None = None,
    softcap: float | None = None,
    query_segments: Tensor | None = None,
    key_segments: Tensor | None = None,
) -> Tensor:
    """As `eager`, by flex_attention, one operation after the other."""
    texts = _of_both(query_segments, key_segments)
    given = (query, key, value, attn_mask, is_causal, scale, sliding_window, texts)
    with torch.compiler.set_stance("force_eager"):
        return _attended("flex_attention", *given, softcap=softcap)


def _attended(
    way: str,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    is_causal: bool,
    scale: float | None,
    window: int | None,
    texts: Tensor | None,
    **options: Any,
) -> Tensor:
    """The output of a function of the library, with the mask that its models pass to it."""
    B, H, N, D = query.shape
    _, G, M, _ = key.shape
    x, y = query.new_empty(B, N, 1), query.new_empty(B, M, 1)
    asked = PreTrainedConfig(attn_implementation=way, sliding_window=window)
    is_causal = is_causal or window is not None
    sights = _sights(attn_mask, M - N if is_causal else 0, texts)
    padding = None if texts is None else texts >= 0
    both = {"and_mask_function": _and(sights) if sights else None}
    if is_causal:
        create = create_causal_mask if window is None else create_sliding_window_causal_mask
        mask = create(asked, x, padding, _cache(key, M - N), **both)
    else:
        mask = create_bidirectional_mask(asked, x, padding, encoder_hidden_states=y, **both)
    caller = SimpleNamespace(training=False, is_causal=is_causal, head_dim=D)
    caller.num_key_value_groups = H // G
    out, _ = FUNCTIONS[way](caller, query, key, value, mask, scaling=scale, **options)
    found: Tensor = out.transpose(1, 2)
    return found


def _cache(key: Tensor, length: int) -> DynamicCache | None:
    """A cache that holds `length` tokens. Raises ValueError for a negative length."""
    if length < 0:
        raise ValueError("a causal model has a key for each of its queries")
    if length == 0:
        return None
    cache, (B, G, _, D) = DynamicCache(), key.shape
    cache.update(key.new_zeros(B, G, length, D), key.new_zeros(B, G, length, D), 0)
    return cache


def _sights(attn_mask: Tensor | None, offset: int, texts: Tensor | None) -> list[Sight]:
    """Masks and segments as functions of positions.

    Raises ValueError if a mask differs between heads, or is additive.
    """
    found: list[Sight] = [] if texts is None else [packed_sequence_mask_function(texts)]
    if attn_mask is None:
        return found
    whole = attn_mask[(None,) * (4 - attn_mask.ndim)]
    if whole.dtype != torch.bool or whole.shape[1] != 1:
        raise ValueError("masks are truth values, and the same for all heads")
    last = torch.tensor(whole.shape) - 1

    def seen(b: Tensor, _: Tensor, i: Tensor, j: Tensor) -> Tensor:
        row = (i - offset).clamp(max=last[2])
        return whole[b.clamp(max=last[0]), 0, row, j.clamp(max=last[3])]

    return [*found, seen]


def _and(sights: list[Sight]) -> Sight:
    """A function that is True if all of these are."""

    def both(b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        first, *others = (sight(b, h, i, j) for sight in sights)
        for other in others:
            first = first & other
        return first

    return both


def _of_both(mine: Tensor | None, theirs: Tensor | None) -> Tensor | None:
    """The segments of one sequence. Raises ValueError if keys have other segments."""
    if mine is None and theirs is None:
        return None
    if mine is None or theirs is None or not torch.equal(mine, theirs):
        raise ValueError("queries and keys are of one sequence")
    return mine
