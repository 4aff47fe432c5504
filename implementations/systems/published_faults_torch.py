"""What S1 and S3 publish and should not, kept so that certification can refuse it.

    softmax_without_the_maximum   S1   WithoutTheMaximum, attends_without_the_maximum
    AlwaysAverages                S3   returns the mean of the weights over the heads, asked or not

S1's overflow is among the mistakes of the specification, for functions and for layers. S3's
choice is no fault where nobody can ask for anything else, as with the layers it publishes. It
is one in the place of torch's layer, which returns the weights of every head to whoever asks.
"""

import torch
from torch import Tensor

from implementations.systems.efficient_layer import EfficientLayer
from implementations.systems.einsum_layer import EinsumLayer, mixed


def softmax_without_the_maximum(scores: Tensor) -> Tensor:
    """S1's softmax: NaN once a score passes 88.7 in float32, or 709.7 in float64.

    exp overflows there, and inf / inf is NaN.
    """
    u = torch.exp(scores)
    return u / u.sum(dim=-1, keepdim=True)


def attends_without_the_maximum(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """S1's attention.

    query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E).
    """
    q, k, v = (x.transpose(1, 2) for x in (query, key, value))
    return mixed(q, k, v, softmax_without_the_maximum)[0].transpose(1, 2)


class WithoutTheMaximum(EinsumLayer):
    """S1 as published: large scores make its output NaN."""

    softmax = staticmethod(softmax_without_the_maximum)


class AlwaysAverages(EfficientLayer):
    """S3 as published: the weights of the heads cannot be had."""

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        need_weights: bool = True,
        average_attn_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        """The output (B, N, E), and the mean of the weights, whatever is asked.   (B, N, M)"""
        del average_attn_weights
        return super().forward(query, key, value, need_weights, True)
