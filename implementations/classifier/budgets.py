"""Error bounds for predictions of the classifier, for any order of summation.

`spec.layer.rounding` derives the error bound of the output of a layer, element by element. This is
the bound of the input of the two linear maps after the layer; the ReLU between them increases no
difference. Two computations of the same prediction may both have this error, so all bounds here are
doubled.
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
    """The prediction of a float64 model for one text, with error bounds for computing it twice."""

    def __init__(self, model: TextClassifier, ids: Tensor) -> None:
        """Prepare the bounds for one text.   ids: (1, L)"""
        self.state = {name: x.detach().numpy() for name, x in model.state_dict().items()}
        with torch.no_grad():
            x = model.embedded(ids).numpy()
        inside = {n.removeprefix("layer."): y for n, y in self.state.items() if "layer." in n}
        problem = LayerProblem(x, x, x, np.zeros_like(x), parameters_of(inside), HEADS)
        self.layer = Budgets(problem)

    @cached_property
    def of_scores(self) -> Array:
        """The bound for the score of every class.   (C,)"""
        linear, state = self.layer.linear, self.state
        y = np.asarray(self.layer.y, dtype=np.float64)[0, :1]
        W, b = state["hidden.weight"], state["hidden.bias"]
        hidden = np.maximum(y @ W.T + b, 0)
        budget = linear(y, self.layer.of_output[0, :1], W, b)
        last = linear(hidden, budget, state["final.weight"], state["final.bias"])
        return 2 * last[0]

    @property
    def of_weights(self) -> Array:
        """The bound for the weights, averaged over the heads.   (L, L)"""
        return 2 * self.layer.of_mean_weights[0]
