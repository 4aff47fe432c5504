"""How far rounding can move a prediction of the classifier, in whatever order sums are taken.

`spec.layer.rounding` derives what the output of a layer can be off by, element by element. It
enters the two linear maps behind the layer as the budget of their input; the rectifier between
them moves nothing further apart. Two computations of the same prediction may each be off by as
much, so everything here is doubled.
"""

from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from implementations.classifier.model import HEADS, TextClassifier
from spec.layer.notation import LayerProblem
from spec.layer.rounding import Budgets
from spec.layer.state import parameters_of
from spec.notation import Array


class Prediction:
    """One text before a model in float64, and the budgets for what is computed from it twice."""

    def __init__(self, model: TextClassifier, ids: Tensor) -> None:
        """ids: (1, L)"""
        self.state = {name: x.detach().numpy() for name, x in model.state_dict().items()}
        with torch.no_grad():
            x = model.embedded(ids).numpy()
        inside = {n.removeprefix("layer."): y for n, y in self.state.items() if "layer." in n}
        problem = LayerProblem(x, x, x, np.zeros_like(x), parameters_of(inside), HEADS)
        self.layer = Budgets(problem)

    @cached_property
    def of_scores(self) -> Array:
        """Of the score of every class.   (C,)"""
        linear, state = self.layer.linear, self.state
        y = np.asarray(self.layer.y, dtype=np.float64)[0, :1]
        W, b = state["hidden.weight"], state["hidden.bias"]
        hidden = np.maximum(y @ W.T + b, 0)
        budget = linear(y, self.layer.of_output[0, :1], W, b)
        last = linear(hidden, budget, state["final.weight"], state["final.bias"])
        return 2 * last[0]

    @property
    def of_weights(self) -> Array:
        """Of the weights, averaged over the heads.   (L, L)"""
        return 2 * self.layer.of_mean_weights[0]
