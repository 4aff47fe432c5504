"""Variations of a model: another order of summation, and perturbations as large as rounding errors.

`heads_reversed` changes the order of summation in the layer: the same function up to rounding.

`jostled` bounds the effect of rounding. The computed value of a linear map W x is exactly (W + dW)
x with |dW| <= n u |W|, for sums of n terms in any order (Higham 2002, section 3.5). So every
parameter except the embedding is changed by n u, up or down at random, at every step, in the
forward and the backward pass. Here n counts all roundings that affect a term in the layer,
including those of the softmax. Actual rounding errors are closer to sqrt(n) u.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn
from torch.func import functional_call

from implementations.classifier.model import HEADS, WIDTH, TextClassifier
from spec.attention.rounding.arithmetic import C_DIV, C_EXP
from spec.formats import FORMATS

State = Mapping[str, Tensor]
Change = Callable[[State, int], State]  # parameters and number of tokens; parameters


class Varied(nn.Module):
    """A model whose parameters are changed in every call, while training updates the originals."""

    def __init__(self, model: TextClassifier, change: Change) -> None:
        super().__init__()
        self.model, self.change = model, change

    def forward(self, ids: Tensor) -> Tensor:
        """Return the output of the model with the changed parameters."""
        state = dict(self.change(dict(self.model.named_parameters()), ids.shape[1]))
        found: Tensor = functional_call(self.model, state, (ids,))
        return found


def heads_reversed(state: State, _: int) -> State:
    """Return the state with the heads reversed, including columns of the output projection."""
    weight, bias = state["layer.in_proj_weight"], state["layer.in_proj_bias"]
    out = state["layer.out_proj.weight"]
    return {
        **state,
        "layer.in_proj_weight": weight.view(3, HEADS, -1, WIDTH).flip(1).reshape(weight.shape),
        "layer.in_proj_bias": bias.view(3, HEADS, -1).flip(1).reshape(bias.shape),
        "layer.out_proj.weight": out.view(WIDTH, HEADS, -1).flip(1).reshape(out.shape),
    }


def jostled(seed: int) -> Change:
    """Return a change of every parameter except the embedding by n u, up or down at random."""
    chance = torch.Generator().manual_seed(seed)

    def change(state: State, L: int) -> State:
        off = roundings(L) * FORMATS["float64"].u
        moved = {n: x * (1 + off * coins(x)) for n, x in state.items() if "embedding" not in n}
        return {**state, **moved}

    def coins(x: Tensor) -> Tensor:
        return 2 * torch.randint(2, x.shape, generator=chance).to(x.dtype) - 1

    return change


def roundings(L: int) -> float:
    """Return the number of roundings of a term in the layer, with L tokens to attend to.

    Projection, score, scale, exponential, sum and quotient, weighted mean, output projection.
    """
    return (WIDTH + 1) + WIDTH // HEADS + 2 + C_EXP + L + C_DIV + L + (WIDTH + 1)
