"""flash-attn's functions on its Triton backend (AMD's), in Triton's interpreter.

`flash_attn_func` and `flash_attn_varlen_func` are the library's, without dropout, and with its
argument names. The library registers its functions with torch for GPUs only. Here they are called
as with a torch that has no such registration (`torch < 2.4` in its interface), so that they accept
arrays on a CPU.
"""

from __future__ import annotations

import os

os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported: kernels run on a CPU
os.environ["FLASH_ATTENTION_TRITON_AMD_ENABLE"] = "TRUE"  # selects the backend

from typing import Any

from flash_attn import flash_attn_interface
from torch import Tensor

for _name in ("forward", "backward", "varlen_forward", "varlen_backward"):
    _registered = getattr(flash_attn_interface, f"_flash_attn_{_name}")
    setattr(flash_attn_interface, f"_wrapped_flash_attn_{_name}", _registered._init_fn)


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    return_attn_probs: bool = False,
) -> Any:
    """q (B, N, H, D), k (B, M, G, D), v (B, M, G, D) give (B, N, H, D).

    return_attn_probs: also return the log-sum-exp (B, H, N), and probabilities for tests.
    """
    return flash_attn_interface.flash_attn_func(
        q,
        k,
        v,
        softmax_scale=softmax_scale,
        causal=causal,
        window_size=window_size,
        softcap=softcap,
        return_attn_probs=return_attn_probs,
    )


def packed(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    softmax_scale: float | None = None,
    causal: bool = False,
    return_attn_probs: bool = False,
) -> Any:
    """q (queries, H, D), k (keys, G, D), v (keys, G, D) give (queries, H, D).

    Windows and soft-caps work as in `attend`, and are left out here. The log-sum-exp is
    (H, queries).
    """
    return flash_attn_interface.flash_attn_varlen_func(
        q,
        k,
        v,
        cu_seqlens_q.int(),
        cu_seqlens_k.int(),
        max_seqlen_q,
        max_seqlen_k,
        softmax_scale=softmax_scale,
        causal=causal,
        return_attn_probs=return_attn_probs,
    )
