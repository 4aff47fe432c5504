"""What the classifier must do, whatever it has learnt, as far as order is concerned.

Without positions, attention sees a bag of tokens and the one that asks. The model reads the
answer that the first token gets. So the prediction stays if all tokens but the first change
places, and does not, in general, if another token comes first. Source S3 says it shorter, that
"how are you" and "you how are" are predicted alike: that is so because its tokenizer, like
ours, puts [CLS] before the first word. Without [CLS] they are different questions.

For the same reason two equal tokens have equal rows of attention weights: they ask the same
question. A table of positions breaks both laws, as it is meant to.

Each law is the largest difference found, in units of the budget of rounding (`budgets`). Rows
of weights sum to one, by which a wrong mean over the heads is found out: no loss would tell.
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
    """A sentence, the largest difference in units of its budget, and whether it stays inside.

    positions: whether the model knows them.
    """

    sentence: str
    ratio: float
    same: bool
    positions: bool = False

    @property
    def holds(self) -> bool:
        """Whether what must be the same is, and what must differ does."""
        return (self.ratio <= 1) == self.same


def laws(model: TextClassifier, tokenizer: Tokenizer, positions: bool) -> Iterator[Law]:
    """Every law, put to a model in float64."""
    one, other = (numbers(tokenizer, text) for text in (WORDS, TURNED))
    back = one.flip(1).roll(1, dims=1)  # [CLS] is first again, the rest in reverse, [SEP] too
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
    """The tokens of one text, a batch of its own.   (1, L)"""
    return torch.tensor([tokenizer.encode(text).ids])


def apart(model: TextClassifier, one: Tensor, other: Tensor) -> float:
    """How far two predictions are apart, in units of what rounding can do.   (1, L) each"""
    difference = (model(one) - model(other))[0].abs().numpy()
    return worst(difference, Prediction(model, one).of_scores)


def rows_apart(model: TextClassifier, ids: Tensor) -> float:
    """The same for the rows of weights of equal tokens.   (1, L)"""
    a, tokens = model.attention(ids)[0].numpy(), ids[0].tolist()
    within = Prediction(model, ids).of_weights
    pairs = [(i, j) for i, x in enumerate(tokens) for j, y in enumerate(tokens[:i]) if x == y]
    return max(worst(np.abs(a[i] - a[j]), within[i]) for i, j in pairs)


def row_sums(model: TextClassifier, tokenizer: Tokenizer, positions: bool = False) -> Law:
    """Each row of the mean weights sums to one: as many additions as there are tokens."""
    ids = numbers(tokenizer, WORDS)
    a, within = model.attention(ids)[0].detach().numpy(), Prediction(model, ids).of_weights
    room = within.sum(axis=-1) + ids.shape[1] * FORMATS["float64"].u
    ratio = worst(np.abs(a.sum(axis=-1) - 1), room)
    return Law("rows of weights sum to one", ratio, True, positions)


def worst(difference: Array, budget: Array) -> float:
    """The largest difference in units of its budget; infinite where it is no number."""
    ratios = np.where(difference == 0, 0.0, difference / budget)
    return float(np.where(np.isnan(ratios), np.inf, ratios).max())
