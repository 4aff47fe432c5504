"""torch's scaled_dot_product_attention, one function for each of its backends.

Each goes through its own backend or not at all: what a backend does not support is
refused with torch's own RuntimeError. The composed one refuses mask and causal
together; the fused one of the CPU takes both, and their intersection.
"""

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel


def math(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Through the composed operations, which take any sizes and any mask.   (B, H, N, E)

    Raises RuntimeError: mask and causal together.
    """
    with sdpa_kernel(SDPBackend.MATH):
        return torch.nn.functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=attn_mask,
            is_causal=is_causal,
            scale=scale,
            enable_gqa=enable_gqa,
        )


def flash(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Through the fused kernel.   (B, H, N, E)

    Raises RuntimeError: E != D, a mask of three axes, and whatever else this machine's
    kernel does not support.
    """
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return torch.nn.functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=attn_mask,
            is_causal=is_causal,
            scale=scale,
            enable_gqa=enable_gqa,
        )
