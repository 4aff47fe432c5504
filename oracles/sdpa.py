"""torch's scaled_dot_product_attention, one function for each of its backends.

Each goes through its own backend or not at all: what a backend does not support is
refused with torch's own RuntimeError. The composed one refuses mask and causal
together; the fused one of the CPU takes both, and their intersection. The last two
are those of a GPU, and refuse everything without one.
"""

from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention


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
        return scaled_dot_product_attention(
            query, key, value, attn_mask, 0.0, is_causal, scale=scale, enable_gqa=enable_gqa
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
        return scaled_dot_product_attention(
            query, key, value, attn_mask, 0.0, is_causal, scale=scale, enable_gqa=enable_gqa
        )


def efficient(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Through the kernel that xFormers had first, on a GPU.   (B, H, N, E)

    Raises RuntimeError: there is no GPU, or what the kernel does not support.
    """
    with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
        return scaled_dot_product_attention(
            query, key, value, attn_mask, 0.0, is_causal, scale=scale, enable_gqa=enable_gqa
        )


def cudnn(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Through cuDNN's, on a GPU.   (B, H, N, E)

    Raises RuntimeError: there is no GPU that has it, or what it does not support.
    """
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        return scaled_dot_product_attention(
            query, key, value, attn_mask, 0.0, is_causal, scale=scale, enable_gqa=enable_gqa
        )
