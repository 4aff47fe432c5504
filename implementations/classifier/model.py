"""The classifier of source S3, into which any multi-head attention layer can be put.

    embedding (1000, 64), padding 0  ->  positions, or none  ->  layer (64, 8 heads)
    ->  the first token  ->  Linear 128  ->  ReLU  ->  Linear 5

It has 89,605 parameters with each layer, as published. Nothing hides the padding: the source
masks nothing. Only the query of the first token, [CLS], is ever read, so without positions the
prediction depends on the other tokens as on a bag: see `laws`.
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

# Whatever is called like torch's layer, under torch's names of parameters, may stand here.
LAYERS: Mapping[str, LayerClass] = {
    "torch": nn.MultiheadAttention,
    "naive": NaiveLayer,
    "efficient": EfficientLayer,
    "ours": MultiHead,
}


class TextClassifier(nn.Module):
    """From the numbers of tokens (B, L) to a score for each class (B, C)."""

    def __init__(self, layer: nn.Module, classes: int, positions: bool = False) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH, padding_idx=0)
        self.positions = SinusoidalPositions(WIDTH, LONGEST) if positions else nn.Identity()
        self.layer = layer
        self.hidden = nn.Linear(WIDTH, HIDDEN)
        self.final = nn.Linear(HIDDEN, classes)

    def embedded(self, ids: Tensor) -> Tensor:
        """What each token means, and where it stands.   (B, L) to (B, L, E)"""
        placed: Tensor = self.positions(self.embedding(ids))
        return placed

    def attention(self, ids: Tensor) -> Tensor:
        """The weights of every token on every other, averaged over the heads.   (B, L, L)"""
        x = self.embedded(ids)
        weights: Tensor = self.layer(x, x, x)[1]
        return weights

    def forward(self, ids: Tensor) -> Tensor:
        """A score for each class.   (B, L) to (B, C)"""
        x = self.embedded(ids)
        out: Tensor = self.layer(x, x, x)[0]
        scores: Tensor = self.final(torch.relu(self.hidden(out[:, 0])))
        return scores


def built(layer: LayerClass, classes: int, seed: int, positions: bool = False) -> TextClassifier:
    """A classifier with this layer, and the initial parameters that go with the seed.

    They are those of torch's layer, whichever it is: all models begin as the same function.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        first = TextClassifier(made(nn.MultiheadAttention), classes, positions)
        model = TextClassifier(made(layer), classes, positions)
    model.load_state_dict(first.state_dict())
    return model


def made(layer: LayerClass) -> nn.Module:
    """A layer of the classifier's size."""
    return layer(embed_dim=WIDTH, num_heads=HEADS, batch_first=True)


def parameters(model: nn.Module) -> int:
    """How many numbers are learnt."""
    return sum(x.numel() for x in model.parameters())


def named(target: str) -> LayerClass:
    """The layer class that `module:Class` or `path/to/file.py:Class` names.

    Raises Unusable: there is none, or it cannot be put in the place of torch's layer.
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
    except Exception as error:  # whatever a foreign class may do
        raise Unusable(f"{target!r} is no layer: {first_line(error)}") from None
    if shapes != ((1, 2, WIDTH), (1, 2, 2)):
        want = f"want {(1, 2, WIDTH)} and {(1, 2, 2)}"
        raise Unusable(f"{target!r}: output and mean weights have shapes {shapes}, {want}")
    return found
