"""Layers with one known bug each, which the end-to-end certificate must reject.

All but the last one train: their losses fall, and their accuracies look normal. The last one
computes the correct output, and returns the wrong weights.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from implementations.classifier.model import LayerClass
from implementations.systems.efficient_layer import EfficientLayer


class MergesWithoutTransposing(EfficientLayer):
    """Flattens (H, L, D) without a transposition, which mixes positions and heads."""

    def merged(self, x: Tensor) -> Tensor:
        """Return (B, L, E) from (B, H, L, D), with numbers at the wrong positions."""
        return x.reshape(x.shape[0], x.shape[2], -1)


class ForgetsTheScale(EfficientLayer):
    """Does not divide the scores by sqrt(D)."""

    def attended(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Return output and weights for the softmax of q k^T."""
        a = torch.softmax(q @ k.mT, dim=-1)
        return a @ v, a


class NormalisesOverQueries(EfficientLayer):
    """Computes the softmax along the wrong axis."""

    def attended(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Return output and weights, with columns that sum to one instead of rows."""
        a = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-2)
        return a @ v, a


class AveragesTheWeightsFirst(EfficientLayer):
    """Uses the mean of the weights over the heads, which is only for inspection, in every head."""

    def attended(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Return output and weights, which are equal in all heads."""
        a = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
        a = a.mean(dim=-3, keepdim=True).expand_as(a)
        return a @ v, a


class DropsTheGradientOfTheKeys(EfficientLayer):
    """Is correct before the first training step."""

    def attended(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Return the correct output, from keys that receive no gradient."""
        return super().attended(q, k.detach(), v)


class TakesTheSoftmaxInSinglePrecision(EfficientLayer):
    """Computes the softmax in float32, whatever the dtype of the input is."""

    def attended(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Return output and weights that are correct to seven digits."""
        a = torch.softmax((q @ k.mT / q.shape[-1] ** 0.5).float(), dim=-1).to(q.dtype)
        return a @ v, a


class AddsUpTheWeights(EfficientLayer):
    """Returns the sum of the weights over the heads instead of their mean."""

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        need_weights: bool = True,
        average_attn_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the correct output, and the sum of the weights."""
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
