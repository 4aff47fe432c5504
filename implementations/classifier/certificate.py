"""The end-to-end certificate: with any right layer, the classifier learns along one curve.

In float64, with the same seed, documents, initial parameters and order, the loss of every step
is compared with that of the reference, the first of the layers. They cannot be equal: each
layer rounds in an order of its own, and training carries on what is off, sometimes enlarged,
for AdamW divides by the size of a gradient. How far is measured, not guessed: the reference is
trained again with every parameter off by all that rounding could do, anew at every step
(`variations.jostled`), COINS times. The budget of a step is the largest difference that these
runs have shown up to it, and what the rounding of the loss itself comes to.

There are controls on both sides. The reference with its heads reversed, and with the texts of
a batch in reverse, is right and must be inside. Layers with a known fault (`faults`) must be
outside, be it no more than a softmax in single precision. Then the laws of order (`laws`).
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
    """One curve beside the reference's: whether it is right, and how far off at every step."""

    name: str
    right: bool
    difference: Array
    budget: Array

    @property
    def ratio(self) -> float:
        """The largest difference in units of its budget; infinite where there is no number."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(self.difference == 0, 0.0, self.difference / self.budget)
        return float(np.where(np.isnan(ratios), np.inf, ratios).max())

    @property
    def holds(self) -> bool:
        """Whether the right is inside, and the faulty outside."""
        return (self.ratio <= 1) == self.right


class Certificate(NamedTuple):
    """The reference's losses, the budget, the curves judged, the laws of every layer.

    control: a law that is broken, as it must be, by a layer whose output is right.
    """

    losses: Array
    budget: Array
    judged: list[Judged]
    laws: Mapping[str, list[Law]]
    control: Law

    @property
    def passed(self) -> bool:
        """Whether everything holds."""
        every = [law for laws in self.laws.values() for law in laws]
        return all(x.holds for x in self.judged) and all(x.holds for x in (*every, self.control))


class Bench:
    """What all runs have in common: the documents, the seed, the batches of every step."""

    def __init__(
        self, train: Encoded, classes: int, seed: int, steps: int, told: Callable[[], object]
    ) -> None:
        self.classes, self.seed, self.told = classes, seed, told
        epochs = (train.shuffled(seed, epoch) for epoch in count())
        self.batches = list(islice((batch for epoch in epochs for batch in epoch), steps))

    def model(self, layer: LayerClass, positions: bool = False) -> TextClassifier:
        """A classifier in float64, as it is before training."""
        return built(layer, self.classes, self.seed, positions).double()

    def curve(self, model: nn.Module, batches: list[Batch] | None = None) -> Array:
        """The loss of every step."""
        learner, losses = Learner("", model), []
        for batch in batches or self.batches:
            losses.append(learner.step(batch))
            self.told()
        return np.array(losses)

    def varied(self, layer: LayerClass, change: Change) -> Array:
        """The curve of a layer whose parameters are changed at every call."""
        return self.curve(Varied(self.model(layer), change))


def of_the_loss(losses: Array, classes: int) -> Array:
    """What the rounding of the loss itself comes to, for two sides.

    The loss of one text is a score's distance from the largest and the logarithm of a sum
    of exponentials, neither of which is negative; the loss is the mean over a batch. So it
    is off by n u times itself, and by what the exponentials and their sum are off, which a
    logarithm passes on as it is.
    """
    u = FORMATS["float64"].u
    return 2 * u * ((BATCH + 2 + C_LOG) * losses + C_EXP + classes)


def runs(layers: Mapping[str, LayerClass]) -> int:
    """How many curves a certificate of these layers takes."""
    return len(layers) + COINS + 2 + len(FAULTS)


def certified(layers: Mapping[str, LayerClass], bench: Bench, tokenizer: Tokenizer) -> Certificate:
    """Every layer judged against the first one."""
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
