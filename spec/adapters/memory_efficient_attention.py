"""memory-efficient-attention-pytorch: its three functions, plain, by chunks, and as flash.

Arrays are (batch, heads, length, width). `plain` is the `attention` of the package, `chunked` its
`memory_efficient_attention` (Rabe and Staats 2021), and `flash` its `FlashAttentionFunction` (Dao
et al. 2022, algorithms 2 and 4). In masks, True is visible. Additive masks are `attn_bias`, which
`flash` does not have. `chunked` accepts only a padding mask (batch, keys). None of them has a
scale. `tiled` and `tiled_flash` are the same in buckets so small that short sequences have several.

`chunked` recomputes with torch's reentrant checkpoints, which `torch.autograd.grad` rejects. Its
gradients are therefore those that `Tensor.backward` stores in the inputs.
"""

from __future__ import annotations

import torch
from memory_efficient_attention_pytorch.flash_attention import FlashAttentionFunction
from memory_efficient_attention_pytorch.memory_efficient_attention import (
    attention,
    memory_efficient_attention,
)
from torch import Tensor

BUCKETS = (512, 1024)  # of queries and of keys: the defaults of the package
SMALL = (8, 16)


def plain(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
) -> Tensor:
    """query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E).

    attn_mask broadcasts to (B, H, N, M).
    """
    mask, bias = _told(query, key, attn_mask)
    return attention(query, key, value, mask=mask, causal=is_causal, attn_bias=bias)


def chunked(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    buckets: tuple[int, int] = BUCKETS,
) -> Tensor:
    """As `plain`. Raises ValueError for a boolean mask that is not (B, 1, 1, M)."""
    mask, bias = _told(query, key, attn_mask)
    if mask is not None and attn_mask is not None:
        if attn_mask.shape != (query.shape[0], 1, 1, key.shape[2]):
            raise ValueError("a mask is of keys alone")
        mask = attn_mask[:, 0, 0]
    q_size, k_size = buckets
    return memory_efficient_attention(
        query, key, value, mask, is_causal, bias, q_bucket_size=q_size, k_bucket_size=k_size
    )


def tiled(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
) -> Tensor:
    """As `chunked`, in small chunks."""
    return chunked(query, key, value, attn_mask, is_causal, SMALL)


def flash(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    is_causal: bool = False,
    buckets: tuple[int, int] = BUCKETS,
) -> Tensor:
    """As `plain`, without additive masks. Raises ValueError for an additive mask."""
    boolean, bias = _told(query, key, mask)
    if bias is not None:
        raise ValueError("it adds nothing")
    out: Tensor = FlashAttentionFunction.apply(query, key, value, boolean, is_causal, *buckets)
    return out


def tiled_flash(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, is_causal: bool = False
) -> Tensor:
    """As `flash`, in small tiles."""
    return flash(query, key, value, mask, is_causal, SMALL)


def backward(
    dout: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    buckets: tuple[int, int] = BUCKETS,
) -> dict[str, Tensor | None]:
    """The gradients of <dout, chunked(...)>, by parameter name."""
    named = {"query": query, "key": key, "value": value}
    if attn_mask is not None and attn_mask.dtype.is_floating_point:
        named["attn_mask"] = attn_mask
    leaves = {name: x.detach().requires_grad_() for name, x in named.items()}
    q, k, v = (leaves[name] for name in ("query", "key", "value"))
    with torch.enable_grad():
        out = chunked(q, k, v, leaves.get("attn_mask", attn_mask), is_causal, buckets)
        torch.autograd.backward(out, dout)
    return {name: x.grad for name, x in leaves.items()}


def tiled_backward(
    dout: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
) -> dict[str, Tensor | None]:
    """The gradients of <dout, tiled(...)>, by parameter name."""
    return backward(dout, query, key, value, attn_mask, is_causal, SMALL)


def _told(
    query: Tensor, key: Tensor, attn_mask: Tensor | None
) -> tuple[Tensor | None, Tensor | None]:
    """The mask (B, H, N, M) as a boolean one, or as an additive one."""
    if attn_mask is None:
        return None, None
    whole = attn_mask.expand(*query.shape[:3], key.shape[2])
    return (whole, None) if whole.dtype == torch.bool else (None, whole)


vars(chunked).update(backward=backward)
vars(tiled).update(backward=tiled_backward)
