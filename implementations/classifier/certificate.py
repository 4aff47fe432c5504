"""The end-to-end certificate: with any correct layer, the classifier has the same loss curve.

Training is in float64, with the same seed, documents, initial parameters and order. The loss of
every step is compared with that of the reference, which is the first of the layers. The losses
cannot be equal, because layers round in different orders. Training carries these errors on, and
sometimes enlarges them, because AdamW divides by the size of a gradient. The error bound is
measured and not guessed: the reference is trained COINS more times, and at every step all
parameters are perturbed by as much as rounding could do (`variations.jostled`). The bound of a step
is the largest difference in these runs up to that step, plus a bound for the rounding of the loss
itself.

There are controls of both kinds. The reference with its heads in reverse, or with the texts of each
batch in reverse, is correct and must be inside the bound. Layers with a known bug (`faults`) must
be outside, even if the bug is only a softmax in single precision. The laws of word order (`laws`)
complete the certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count, islice
from typing import NamedTuple

import numpy as np
from tokenizers import Tokenizer
from torch import nn

from implementations.classifier.faults import FAULTS, AddsUpTheWeights
from implementations.classifier.laws import Law, laws, row_sums
from implementations.classifier.model import LayerClass, TextClassifier, built
from implementations.classifier.training import BATCH, Batch, Encoded, Learner
from implementations.classifier.variations import Change, Varied, heads_reversed, jostled
from spec.attention.rounding.arithmetic import C_EXP, C_LOG
from spec.formats import FORMATS
from spec.notation import Array

COINS = 3


class Judged(NamedTuple):
    """One curve: whether it must be correct, and its difference to the reference at every step."""

    name: str
    right: bool
    difference: Array
    budget: Array

    @property
    def ratio(self) -> float:
        """The largest ratio of a difference to its bound; infinite if there is a NaN."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(self.difference == 0, 0.0, self.difference / self.budget)
        return float(np.where(np.isnan(ratios), np.inf, ratios).max())

    @property
    def holds(self) -> bool:
        """Whether a correct curve is inside the bound, or a faulty one outside."""
        return (self.ratio <= 1) == self.right


class Certificate(NamedTuple):
    """The losses of the reference, the bound, all curves, and the laws of every layer.

    control: a law that must fail for a layer with a correct output and wrong weights.
    """

    losses: Array
    budget: Array
    judged: list[Judged]
    laws: Mapping[str, list[Law]]
    control: Law

    @property
    def passed(self) -> bool:
        """Whether all curves and laws are as expected."""
        every = [law for laws in self.laws.values() for law in laws]
        return all(x.holds for x in self.judged) and all(x.holds for x in (*every, self.control))


class Bench:
    """The documents, the seed, and the batch of every step, which are the same in all runs."""

    def __init__(
        self, train: Encoded, classes: int, seed: int, steps: int, told: Callable[[], object]
    ) -> None:
        self.classes, self.seed, self.told = classes, seed, told
        epochs = (train.shuffled(seed, epoch) for epoch in count())
        self.batches = list(islice((batch for epoch in epochs for batch in epoch), steps))

    def model(self, layer: LayerClass, positions: bool = False) -> TextClassifier:
        """Return a classifier in float64, before training."""
        return built(layer, self.classes, self.seed, positions).double()

    def curve(self, model: nn.Module, batches: list[Batch] | None = None) -> Array:
        """Return the loss of every step."""
        learner, losses = Learner("", model), []
        for batch in batches or self.batches:
            losses.append(learner.step(batch))
            self.told()
        return np.array(losses)

    def varied(self, layer: LayerClass, change: Change) -> Array:
        """Return the curve of a layer whose parameters are changed at every call."""
        return self.curve(Varied(self.model(layer), change))


def of_the_loss(losses: Array, classes: int) -> Array:
    """Return a bound for the rounding of the loss itself, in two computations.

    The loss of one text is the distance of a score from the largest one, plus the logarithm of a
    sum of exponentials. Neither is negative, and the loss is the mean over a batch. So its error is
    at most n u times the loss, plus the error of the exponentials and their sum, which a logarithm
    turns into an absolute error of the same size.
    """
    u = FORMATS["float64"].u
    return 2 * u * ((BATCH + 2 + C_LOG) * losses + C_EXP + classes)


def runs(layers: Mapping[str, LayerClass]) -> int:
    """Return the number of curves that a certificate of these layers needs."""
    return len(layers) + COINS + 2 + len(FAULTS)


def certified(layers: Mapping[str, LayerClass], bench: Bench, tokenizer: Tokenizer) -> Certificate:
    """Return the certificate of all layers, compared with the first one."""
    learnt = {name: bench.model(layer) for name, layer in layers.items()}
    curves = {name: bench.curve(model) for name, model in learnt.items()}
    name, first = next(iter(layers.items()))
    losses = curves.pop(name)
    coins = [bench.varied(first, jostled(seed)) for seed in range(COINS)]
    budget = np.maximum.accumulate(np.max(np.abs(np.array(coins) - losses), axis=0))
    budget += of_the_loss(losses, bench.classes)
    turned = [(ids.flip(0), labels.flip(0)) for ids, labels in bench.batches]
    curves[f"{name}, heads reversed"] = bench.varied(first, heads_reversed)
    curves[f"{name}, batches reversed"] = bench.curve(bench.model(first), turned)
    wrong = {fault: bench.curve(bench.model(layer)) for fault, layer in FAULTS.items()}
    judged = [
        Judged(each, right, np.abs(curve - losses), budget)
        for right, found in ((True, curves), (False, wrong))
        for each, curve in found.items()
    ]
    lawful = {}
    for each, layer in layers.items():
        placed = bench.model(layer, positions=True)
        lawful[each] = [*laws(learnt[each], tokenizer, False), *laws(placed, tokenizer, True)]
    control = row_sums(bench.model(AddsUpTheWeights), tokenizer)._replace(same=False)
    return Certificate(losses, budget, judged, lawful, control)
