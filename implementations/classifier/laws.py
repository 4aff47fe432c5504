"""Laws of word order that hold for the classifier, whatever it has learnt.

Without positions, attention depends on the query and on the other tokens, but not on their order.
The model uses the output of the first token. So the prediction stays the same if all tokens but the
first are reordered, and in general changes if another token comes first. The source of the
text-classifier says more briefly that "how are you" and "you how are" have the same prediction.
This is true because its tokenizer, like ours, puts [CLS] before the first word. Without [CLS], the
two texts would have different first tokens, and so different queries.

For the same reason, two equal tokens have equal rows of attention weights: their queries are equal.
A table of positions breaks both laws, which is its purpose.

Each law is the largest difference found, in units of the error bound (`budgets`). Rows of weights
sum to one, which detects a wrong mean over the heads; no loss would show it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from implementations.classifier.budgets import Prediction
from implementations.classifier.model import TextClassifier
from spec.formats import FORMATS
from spec.notation import Array

WORDS = "the storm and the train"
TURNED = "train the storm and the"


class Law(NamedTuple):
    """A sentence, the largest difference in units of its bound, and whether it must be inside.

    positions: whether the model has them.
    """

    sentence: str
    ratio: float
    same: bool
    positions: bool = False

    @property
    def holds(self) -> bool:
        """Whether results that must be equal are equal, and others differ."""
        return (self.ratio <= 1) == self.same


def laws(model: TextClassifier, tokenizer: Tokenizer, positions: bool) -> Iterator[Law]:
    """Yield every law, tested on a model in float64."""
    one, other = (numbers(tokenizer, text) for text in (WORDS, TURNED))
    back = one.flip(1).roll(1, dims=1)  # [CLS] stays first; the rest, with [SEP], is reversed
    with torch.no_grad():
        if positions:
            yield Law("the words turn, another answer", apart(model, one, other), False, True)
            yield Law("equal tokens, unequal rows", rows_apart(model, one), False, True)
        else:
            bare = one[:, 1:-1], other[:, 1:-1]
            yield Law("the words turn, the same answer", apart(model, one, other), True)
            yield Law("all but [CLS] reversed, the same answer", apart(model, one, back), True)
            yield Law("another word first and no [CLS], another answer", apart(model, *bare), False)
            yield Law("equal tokens, equal rows", rows_apart(model, one), True)
    yield row_sums(model, tokenizer, positions)


def numbers(tokenizer: Tokenizer, text: str) -> Tensor:
    """Return the tokens of one text as a batch.   (1, L)"""
    return torch.tensor([tokenizer.encode(text).ids])


def apart(model: TextClassifier, one: Tensor, other: Tensor) -> float:
    """Return the difference of two predictions in units of its error bound.   (1, L) each"""
    difference = (model(one) - model(other))[0].abs().numpy()
    return worst(difference, Prediction(model, one).of_scores)


def rows_apart(model: TextClassifier, ids: Tensor) -> float:
    """Return the same for the rows of weights of equal tokens.   (1, L)"""
    a, tokens = model.attention(ids)[0].numpy(), ids[0].tolist()
    within = Prediction(model, ids).of_weights
    pairs = [(i, j) for i, x in enumerate(tokens) for j, y in enumerate(tokens[:i]) if x == y]
    return max(worst(np.abs(a[i] - a[j]), within[i]) for i, j in pairs)


def row_sums(model: TextClassifier, tokenizer: Tokenizer, positions: bool = False) -> Law:
    """Return the law that rows of the mean weights sum to one, with a rounding for each token."""
    ids = numbers(tokenizer, WORDS)
    a, within = model.attention(ids)[0].detach().numpy(), Prediction(model, ids).of_weights
    room = within.sum(axis=-1) + ids.shape[1] * FORMATS["float64"].u
    ratio = worst(np.abs(a.sum(axis=-1) - 1), room)
    return Law("rows of weights sum to one", ratio, True, positions)


def worst(difference: Array, budget: Array) -> float:
    """Return the largest ratio of a difference to its bound; infinite if there is a NaN."""
    ratios = np.where(difference == 0, 0.0, difference / budget)
    return float(np.where(np.isnan(ratios), np.inf, ratios).max())
