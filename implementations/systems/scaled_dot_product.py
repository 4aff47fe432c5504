"""S3: torch, scaled dot-product attention that returns the weights beside the output.

    weights = softmax(q k^T / sqrt(D))        out = weights v

Keys and values default to the queries: self-attention. Axes before the last two are carried
along, so that the same lines serve a sequence, a batch, and a batch of heads. No mask.

Source S3 publishes this function, and that it agrees with torch's own on (2, 3, 6).
"""

import torch
from torch import Tensor


def scaled_dot_product_attention(
    query: Tensor, key: Tensor | None = None, value: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The output (..., N, E) and the weights (..., N, M).

    query (..., N, D), key (..., M, D), value (..., M, E).
    Raises ValueError: queries and keys differ in width.
    """
    key = query if key is None else key
    value = query if value is None else value
    D = key.shape[-1]
    if query.shape[-1] != D:
        raise ValueError(f"queries of width {query.shape[-1]} do not match keys of width {D}")
    a = torch.softmax(query @ key.mT / D**0.5, dim=-1)
    return a @ value, a


def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The output alone.

    query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E).
    """
    return scaled_dot_product_attention(query, key, value)[0]


def weights(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The weights alone.   (B, H, N, M)"""
    return scaled_dot_product_attention(query, key, value)[1]


vars(attend).update(weights=weights)
