"""Source S3's comparison: one classifier, several attention layers, the same documents.

Published: accuracies of 0.87 with torch's layer, 0.876 with the naive one, 0.85 with the
efficient one and 0.81 with positions, in 155, 218, 186 and 195 seconds on one processor. Those
models began with parameters of their own. Here all begin alike, so that right layers reach one
accuracy, but for rounding; with positions the model is another one.
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
    """What the source reports of a model."""

    accuracy: float
    seconds: float


class Choice(NamedTuple):
    """A model to train: its layer, whether it knows positions, and what is published of it."""

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
    """Documents as numbers, and the tokenizer that made them so."""

    tokenizer: Tokenizer
    train: Encoded
    test: Encoded
    classes: tuple[str, ...]


def prepared(documents: Documents) -> Corpus:
    """The vocabulary is learnt from the training texts, as the model is."""
    tokenizer = trained(text for text, _ in documents.train)

    def numbers(part: list[Text]) -> Encoded:
        tokens = encoded(tokenizer, [text for text, _ in part])
        return Encoded(tokens, [label for _, label in part])

    return Corpus(tokenizer, numbers(documents.train), numbers(documents.test), documents.classes)


def steps(corpus: Corpus) -> int:
    """How many batches there are in an epoch."""
    return -(-len(corpus.train.labels) // BATCH)


def trained_models(
    choices: Mapping[str, Choice],
    corpus: Corpus,
    epochs: int,
    seed: int,
    told: Callable[[], object],
) -> list[Trained]:
    """Every model after its last epoch; they take turns, an epoch each."""
    learners = [
        Learner(name, built(choice.layer, len(corpus.classes), seed, choice.positions))
        for name, choice in choices.items()
    ]
    for _ in range(epochs):
        for learner in learners:
            learner.epoch(corpus.train, corpus.test, seed, told)
    return learners
