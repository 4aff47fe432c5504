"""Scaled dot-product attention of text-classifier in torch: it returns the output and the weights.

    weights = softmax(q k^T / sqrt(D))        out = weights v

Keys and values default to the queries: self-attention. The function keeps all axes before the
last two, so the same lines serve a sequence, a batch, and a batch of heads. There is no mask.

The source of text-classifier publishes this function, and its agreement with torch's function
on (2, 3, 6).
"""

import torch
from torch import Tensor


def scaled_dot_product_attention(
    query: Tensor, key: Tensor | None = None, value: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the output (..., N, E) and the weights (..., N, M).

    query (..., N, D), key (..., M, D), value (..., M, E).
    Raises ValueError if queries and keys differ in head size.
    """
    key = query if key is None else key
    value = query if value is None else value
    D = key.shape[-1]
    if query.shape[-1] != D:
        raise ValueError(f"queries of width {query.shape[-1]} do not match keys of width {D}")
    a = torch.softmax(query @ key.mT / D**0.5, dim=-1)
    return a @ value, a


def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Return only the output.

    query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E).
    """
    return scaled_dot_product_attention(query, key, value)[0]


def weights(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Return only the weights.   (B, H, N, M)"""
    return scaled_dot_product_attention(query, key, value)[1]


vars(attend).update(weights=weights)
