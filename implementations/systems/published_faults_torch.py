"""The published bugs of einsum-layer and text-classifier, kept so that certification rejects them.

    softmax_without_the_maximum   einsum-layer      WithoutTheMaximum,
                                                    attends_without_the_maximum
    AlwaysAverages                text-classifier   always returns the mean of the weights over
                                                    the heads

The overflow of einsum-layer is a known bug of the specification, for functions and for layers.
The mean of text-classifier is no bug in the layers that its source publishes: their caller
cannot request anything else. It is a bug in a replacement of torch's layer, which returns the
weights of every head on request.
"""

import torch
from torch import Tensor

from implementations.systems.efficient_layer import EfficientLayer
from implementations.systems.einsum_layer import EinsumLayer, mixed


def softmax_without_the_maximum(scores: Tensor) -> Tensor:
    """Return the softmax of einsum-layer: NaN for scores above 88.7 (float32) or 709.7 (float64).

    exp overflows there, and inf / inf is NaN.
    """
    u = torch.exp(scores)
    return u / u.sum(dim=-1, keepdim=True)


def attends_without_the_maximum(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Return the attention of einsum-layer as published.

    query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E).
    """
    q, k, v = (x.transpose(1, 2) for x in (query, key, value))
    return mixed(q, k, v, softmax_without_the_maximum)[0].transpose(1, 2)


class WithoutTheMaximum(EinsumLayer):
    """The einsum-layer system as published: large scores make its output NaN."""

    softmax = staticmethod(softmax_without_the_maximum)


class AlwaysAverages(EfficientLayer):
    """The layer of text-classifier as published: it cannot return the weights of each head."""

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        need_weights: bool = True,
        average_attn_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the output (B, N, E) and always the mean of the weights (B, N, M)."""
        del average_attn_weights
        return super().forward(query, key, value, need_weights, True)
