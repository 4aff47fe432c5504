"""Layers with one known fault each: what the end-to-end certificate has to refuse.

All but the last train: their losses fall, and their accuracies look like anyone's. The last one
computes the right output, and tells the wrong weights.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from implementations.classifier.model import LayerClass
from implementations.systems.efficient_layer import EfficientLayer


class MergesWithoutTransposing(EfficientLayer):
    """Flattens (H, L, D) as it lies, so that positions and heads are mixed."""

    def merged(self, x: Tensor) -> Tensor:
        """(B, H, L, D) to (B, L, E), with the numbers in the wrong places."""
        return x.reshape(x.shape[0], x.shape[2], -1)


class ForgetsTheScale(EfficientLayer):
    """Does not divide the scores by sqrt(D)."""

    def attended(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """The softmax of q k^T."""
        a = torch.softmax(q @ k.mT, dim=-1)
        return a @ v, a


class NormalisesOverQueries(EfficientLayer):
    """Takes the softmax along the wrong axis."""

    def attended(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Columns of weights sum to one, and rows do not."""
        a = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-2)
        return a @ v, a


class AveragesTheWeightsFirst(EfficientLayer):
    """Lets every head use the mean of the weights, which is only meant to be looked at."""

    def attended(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """All heads attend alike."""
        a = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
        a = a.mean(dim=-3, keepdim=True).expand_as(a)
        return a @ v, a


class DropsTheGradientOfTheKeys(EfficientLayer):
    """Is right until something is learnt."""

    def attended(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """The right output, of keys that never hear of the loss."""
        return super().attended(q, k.detach(), v)


class TakesTheSoftmaxInSinglePrecision(EfficientLayer):
    """Has a softmax that computes in float32 whatever it is given."""

    def attended(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """The weights are right to seven digits."""
        a = torch.softmax((q @ k.mT / q.shape[-1] ** 0.5).float(), dim=-1).to(q.dtype)
        return a @ v, a


class AddsUpTheWeights(EfficientLayer):
    """Returns the sum of the weights over the heads in the place of their mean."""

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        need_weights: bool = True,
        average_attn_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        """The right output."""
        out, a = super().forward(query, key, value, need_weights, False)
        return out, a if a is None or not average_attn_weights else a.sum(dim=1)


FAULTS: Mapping[str, LayerClass] = {
    "merges without transposing": MergesWithoutTransposing,
    "forgets the scale": ForgetsTheScale,
    "normalises over queries": NormalisesOverQueries,
    "averages the weights first": AveragesTheWeightsFirst,
    "drops the gradient of the keys": DropsTheGradientOfTheKeys,
    "softmax in single precision": TakesTheSoftmaxInSinglePrecision,
}
