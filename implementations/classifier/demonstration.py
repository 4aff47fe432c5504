"""The comparison of the published text-classifier: one model, several layers, the same documents.

Published results: accuracies of 0.87 with the layer of torch, 0.876 with the naive one, 0.85 with
the efficient one and 0.81 with positions, in 155, 218, 186 and 195 seconds on one processor. Those
models started with different parameters. Here all start with the same ones, so that correct layers
reach the same accuracy, up to rounding. The model with positions is a different one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tokenizers import Tokenizer

from implementations.classifier.documents import Documents
from implementations.classifier.grammar import Text
from implementations.classifier.model import LAYERS, LayerClass, TextClassifier, built
from implementations.classifier.tokens import encoded, trained
from implementations.classifier.training import BATCH, Encoded, Learner

Trained = Learner[TextClassifier]


class Published(NamedTuple):
    """The figures that the source reports about a model."""

    accuracy: float
    seconds: float


class Choice(NamedTuple):
    """A model to train: its layer, whether it has positions, and its published results."""

    layer: LayerClass
    positions: bool = False
    published: Published | None = None


CHOICES: Mapping[str, Choice] = {
    "torch": Choice(LAYERS["torch"], published=Published(0.87, 155)),
    "naive": Choice(LAYERS["naive"], published=Published(0.876, 218)),
    "efficient": Choice(LAYERS["efficient"], published=Published(0.85, 186)),
    "efficient, positions": Choice(LAYERS["efficient"], True, Published(0.81, 195)),
    "ours": Choice(LAYERS["ours"]),
}


class Corpus(NamedTuple):
    """Documents as token ids, and their tokenizer."""

    tokenizer: Tokenizer
    train: Encoded
    test: Encoded
    classes: tuple[str, ...]


def prepared(documents: Documents) -> Corpus:
    """Return the documents as token ids; the vocabulary is trained on the training texts."""
    tokenizer = trained(text for text, _ in documents.train)

    def numbers(part: list[Text]) -> Encoded:
        tokens = encoded(tokenizer, [text for text, _ in part])
        return Encoded(tokens, [label for _, label in part])

    return Corpus(tokenizer, numbers(documents.train), numbers(documents.test), documents.classes)


def steps(corpus: Corpus) -> int:
    """Return the number of batches in an epoch."""
    return -(-len(corpus.train.labels) // BATCH)


def trained_models(
    choices: Mapping[str, Choice],
    corpus: Corpus,
    epochs: int,
    seed: int,
    told: Callable[[], object],
) -> list[Trained]:
    """Return all models after their last epoch; they take turns, one epoch each."""
    learners = [
        Learner(name, built(choice.layer, len(corpus.classes), seed, choice.positions))
        for name, choice in choices.items()
    ]
    for _ in range(epochs):
        for learner in learners:
            learner.epoch(corpus.train, corpus.test, seed, told)
    return learners
