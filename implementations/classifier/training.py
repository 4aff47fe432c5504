"""The training loop of the published text-classifier: AdamW at 1e-3, batches of 32, cross-entropy.

All models get the same texts in the same order. They take turns, one epoch each, and the time
measured is processor time. On a machine with other users, the times of one model after the other
would also depend on the load at that hour.
"""

from collections.abc import Callable, Iterator, Sequence
from time import process_time
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from implementations.classifier.tokens import padded

RATE, BATCH = 1e-3, 32

Batch = tuple[Tensor, Tensor]  # tokens (B, L), labels (B,)
Model = TypeVar("Model", bound=nn.Module)


class Encoded(NamedTuple):
    """Texts as token ids, and their labels."""

    tokens: list[list[int]]
    labels: list[int]

    def batches(self, order: Sequence[int]) -> Iterator[Batch]:
        """Yield the texts in this order, 32 at a time, each batch padded to its longest text."""
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            labels = torch.tensor([self.labels[i] for i in part])
            yield padded([self.tokens[i] for i in part]), labels

    def shuffled(self, seed: int, epoch: int) -> Iterator[Batch]:
        """Yield the batches of one epoch, in an order that depends only on seed and epoch."""
        order = np.random.default_rng((seed, epoch)).permutation(len(self.tokens))
        return self.batches(order.tolist())

    def in_order(self) -> Iterator[Batch]:
        """Yield the batches in the order of the texts."""
        return self.batches(range(len(self.tokens)))


class Epoch(NamedTuple):
    """Losses and accuracy of a model after an epoch."""

    train_loss: float
    test_loss: float
    accuracy: float


class Learner(Generic[Model]):
    """A model in training, with its optimiser, its results so far, and its training time."""

    def __init__(self, name: str, model: Model) -> None:
        self.name, self.model = name, model
        self.optimiser = torch.optim.AdamW(model.parameters(), lr=RATE)
        self.epochs: list[Epoch] = []
        self.seconds = 0.0

    def step(self, batch: Batch) -> float:
        """Take one optimiser step on a batch, and return the loss before it."""
        ids, labels = batch
        self.optimiser.zero_grad()
        loss = cross_entropy(self.model(ids), labels)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        return loss.item()

    def epoch(self, train: Encoded, test: Encoded, seed: int, told: Callable[[], object]) -> None:
        """Train on every training text once, then evaluate on the test texts."""
        start, total = process_time(), 0.0
        for batch in train.shuffled(seed, len(self.epochs)):
            total += self.step(batch) * len(batch[1])
            told()
        loss, accuracy = tested(self.model, test)
        self.epochs.append(Epoch(total / len(train.labels), loss, accuracy))
        self.seconds += process_time() - start


def tested(model: nn.Module, test: Encoded) -> tuple[float, float]:
    """Return the mean loss, and the share of texts whose class is correct."""
    loss, right = 0.0, 0
    with torch.no_grad():
        for ids, labels in test.in_order():
            scores = model(ids)
            loss += cross_entropy(scores, labels, reduction="sum").item()
            right += int((scores.argmax(dim=1) == labels).sum())
    return loss / len(test.labels), right / len(test.labels)
