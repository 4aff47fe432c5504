"""memory-efficient-attention-pytorch: its `memory_efficient_attention` with dropout.

Arrays are (batch, heads, length, width); random numbers are torch's. The `attention` of the package
has no dropout. Gradients are those that `Tensor.backward` stores in the inputs, because the
checkpoints are reentrant (see the module `memory_efficient_attention`).
"""

from __future__ import annotations

import torch
from memory_efficient_attention_pytorch.memory_efficient_attention import memory_efficient_attention
from torch import Tensor


def chunked(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    is_causal: bool = False,
    dropout: float = 0.0,
    training: bool = False,
) -> Tensor:
    """query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E)."""
    return memory_efficient_attention(
        query, key, value, causal=is_causal, dropout=dropout, training=training
    )


def backward(
    dout: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    is_causal: bool = False,
    dropout: float = 0.0,
    training: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of <dout, chunked(...)> with respect to query, key and value."""
    q, k, v = leaves = [x.detach().requires_grad_() for x in (query, key, value)]
    with torch.enable_grad():
        torch.autograd.backward(chunked(q, k, v, is_causal, dropout, training), dout)
    return tuple(x.grad for x in leaves)


vars(chunked).update(backward=backward)
