"""The published text-classifier, which works with any multi-head attention layer.

    embedding (1000, 64), padding 0  ->  positions, or none  ->  layer (64, 8 heads)
    ->  the first token  ->  Linear 128  ->  ReLU  ->  Linear 5

It has 89,605 parameters with each layer, as published. There is no padding mask, as in the source.
Only the output of the first token, [CLS], is used. So without positions the prediction does not
depend on the order of the other tokens: see `laws`.
"""

from collections.abc import Callable, Mapping
from inspect import isclass

import torch
from torch import Tensor, nn

from implementations.classifier.documents import Unusable, first_line
from implementations.classifier.tokens import LONGEST, VOCABULARY
from implementations.multihead_torch import MultiHead
from implementations.systems.efficient_layer import EfficientLayer
from implementations.systems.naive_layer import NaiveLayer
from implementations.systems.positions import SinusoidalPositions
from spec.backends import Unsuitable
from spec.certification.target.loading import resolved

WIDTH, HEADS, HIDDEN = 64, 8, 128

LayerClass = Callable[..., nn.Module]

# Any layer with the call of torch's layer, and its parameter names, can be added here.
LAYERS: Mapping[str, LayerClass] = {
    "torch": nn.MultiheadAttention,
    "naive": NaiveLayer,
    "efficient": EfficientLayer,
    "ours": MultiHead,
}


class TextClassifier(nn.Module):
    """Maps token ids (B, L) to a score for each class (B, C)."""

    def __init__(self, layer: nn.Module, classes: int, positions: bool = False) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH, padding_idx=0)
        self.positions = SinusoidalPositions(WIDTH, LONGEST) if positions else nn.Identity()
        self.layer = layer
        self.hidden = nn.Linear(WIDTH, HIDDEN)
        self.final = nn.Linear(HIDDEN, classes)

    def embedded(self, ids: Tensor) -> Tensor:
        """Return the embedding of each token, plus its position.   (B, L) to (B, L, E)"""
        placed: Tensor = self.positions(self.embedding(ids))
        return placed

    def attention(self, ids: Tensor) -> Tensor:
        """Return the weights of every token on every other, averaged over the heads.   (B, L, L)"""
        x = self.embedded(ids)
        weights: Tensor = self.layer(x, x, x)[1]
        return weights

    def forward(self, ids: Tensor) -> Tensor:
        """Return a score for each class.   (B, L) to (B, C)"""
        x = self.embedded(ids)
        out: Tensor = self.layer(x, x, x)[0]
        scores: Tensor = self.final(torch.relu(self.hidden(out[:, 0])))
        return scores


def built(layer: LayerClass, classes: int, seed: int, positions: bool = False) -> TextClassifier:
    """Return a classifier with this layer, and the initial parameters of the seed.

    The parameters are those with torch's layer, whichever layer it is: all models are the same
    function before training.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        first = TextClassifier(made(nn.MultiheadAttention), classes, positions)
        model = TextClassifier(made(layer), classes, positions)
    model.load_state_dict(first.state_dict())
    return model


def made(layer: LayerClass) -> nn.Module:
    """Return a layer of the size that the classifier needs."""
    return layer(embed_dim=WIDTH, num_heads=HEADS, batch_first=True)


def parameters(model: nn.Module) -> int:
    """Return the number of trainable parameters."""
    return sum(x.numel() for x in model.parameters())


def named(target: str) -> LayerClass:
    """Return the layer class of a name, `module:Class` or `path/to/file.py:Class`.

    Raises Unusable if there is none, or if it cannot replace the layer of torch.
    """
    try:
        found = resolved(target)
    except Unsuitable as reason:
        raise Unusable(str(reason)) from None
    if not isclass(found) or not issubclass(found, nn.Module):
        raise Unusable(f"{target!r} is no layer: want a subclass of torch.nn.Module")
    x = torch.ones((1, 2, WIDTH))
    try:
        out, weights = built(found, 2, seed=0).layer(x, x, x)
        shapes = tuple(out.shape), tuple(weights.shape)
    except Exception as error:  # other people's classes may raise anything
        raise Unusable(f"{target!r} is no layer: {first_line(error)}") from None
    if shapes != ((1, 2, WIDTH), (1, 2, 2)):
        want = f"want {(1, 2, WIDTH)} and {(1, 2, 2)}"
        raise Unusable(f"{target!r}: output and mean weights have shapes {shapes}, {want}")
    return found
