"""Attention of diffusers: the function behind its newer models, and the layer with processors.

`dispatch_attention_fn` has torch's argument names and arrays (batch, length, heads, width). The
name of a backend selects torch's fused function (`native`), its plain mathematics (`math`), or
flex_attention (`flex`). The layers are built from a description, each with one of the processors.
"""

from __future__ import annotations

import warnings
from typing import Any

from diffusers.models.attention_dispatch import dispatch_attention_fn
from diffusers.models.attention_processor import (
    Attention,
    AttnProcessor,
    AttnProcessor2_0,
    SlicedAttnProcessor,
)
from torch import Tensor


def native(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """query (B, N, H, D), key (B, M, G, D), value (B, M, G, E) give (B, N, H, E)."""
    asked = {"attn_mask": attn_mask, "is_causal": is_causal, "scale": scale}
    return _dispatched("native", query, key, value, enable_gqa=enable_gqa, **asked)


def math(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """As `native`."""
    asked = {"attn_mask": attn_mask, "is_causal": is_causal, "scale": scale}
    return _dispatched("_native_math", query, key, value, enable_gqa=enable_gqa, **asked)


def flex(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """As `native`. Raises NotImplementedError if a gradient is required on a CPU."""
    asked = {"attn_mask": attn_mask, "is_causal": is_causal, "scale": scale}
    return _dispatched("flex", query, key, value, enable_gqa=enable_gqa, **asked)


def padded(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """As `flex`, with a padding mask of keys only, (batch, keys).

    Raises ValueError if a mask is not boolean with the shape (B, 1, 1, M).
    """
    B, M = query.shape[0], key.shape[1]
    if mask is not None:
        if mask.dtype.is_floating_point or mask.shape != (B, 1, 1, M):
            raise ValueError("a mask is of truth values, and of keys alone")
        mask = mask[:, 0, 0]
    asked = {"attn_mask": mask, "scale": scale, "enable_gqa": enable_gqa}
    return _dispatched("flex", query, key, value, **asked)


def _dispatched(backend: str, query: Tensor, key: Tensor, value: Tensor, **asked: Any) -> Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a warning that it is not compiled
        return dispatch_attention_fn(query, key, value, backend=backend, **asked)


class Layer(Attention):  # type: ignore[misc]
    """The layer with its default processor, for self-attention."""

    processor_class: Any = AttnProcessor2_0

    def __init__(self, width: int, heads: int, head_width: int, bias: bool) -> None:
        processor = self.processor_class()
        super().__init__(
            width, None, heads, dim_head=head_width, bias=bias, out_bias=bias, processor=processor
        )

    def forward(self, x: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """x (B, N, A) gives (B, N, A). attention_mask (B, N, N) is added to the scores."""
        return super().forward(x, None, attention_mask)


class Plain(Layer):
    """The same layer with the processor that uses matrix products."""

    processor_class = AttnProcessor


class Sliced(Layer):
    """The same layer with the processor that computes two heads at a time."""

    processor_class = staticmethod(lambda: SlicedAttnProcessor(slice_size=2))
