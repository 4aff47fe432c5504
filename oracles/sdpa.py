"""The scaled_dot_product_attention of torch, with one function for each of its backends.

Each function uses only its backend: if it does not support a call, torch raises RuntimeError. The
composed backend does not support a mask together with is_causal. The fused one of the CPU does, and
applies both. The last two need a GPU, and raise an exception without one.
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
    """Return the output of the composed operations, for any sizes and any mask.   (B, H, N, E)

    Raises RuntimeError for a mask together with is_causal.
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
    """Return the output of the fused kernel.   (B, H, N, E)

    Raises RuntimeError for E != D, a mask of three axes, and anything else that the kernel of this
    machine does not support.
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
    """Return the output of the kernel that comes from xFormers, on a GPU.   (B, H, N, E)

    Raises RuntimeError without a GPU, or if the kernel does not support a call.
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
    """Return the output of the kernel of cuDNN, on a GPU.   (B, H, N, E)

    Raises RuntimeError without a GPU that has it, or if it does not support a call.
    """
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        return scaled_dot_product_attention(
            query, key, value, attn_mask, 0.0, is_causal, scale=scale, enable_gqa=enable_gqa
        )
