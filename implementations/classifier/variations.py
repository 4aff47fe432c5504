"""The same model, computed otherwise: what rounding does to it, and what it could do at most.

`heads_reversed` sums the output of the layer in another order: the same function up to rounding.

`jostled` is what rounding could do. The computed value of a linear map W x is exactly
(W + dW) x with |dW| <= n u |W|, for sums of n terms in any order (Higham 2002, section 3.5). So
every parameter behind the embedding is off by n u, up or down by a coin, anew at every step,
forward and backward alike. Here n counts all the roundings that a term meets on its way through
the layer, those of the softmax too; what rounding does is nearer to sqrt(n) u.
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
    """A model whose parameters are changed at every call, and learnt unchanged."""

    def __init__(self, model: TextClassifier, change: Change) -> None:
        super().__init__()
        self.model, self.change = model, change

    def forward(self, ids: Tensor) -> Tensor:
        """What the model says with the changed parameters."""
        state = dict(self.change(dict(self.model.named_parameters()), ids.shape[1]))
        found: Tensor = functional_call(self.model, state, (ids,))
        return found


def heads_reversed(state: State, _: int) -> State:
    """The last head first, under torch's names; the columns of the last projection come along."""
    weight, bias = state["layer.in_proj_weight"], state["layer.in_proj_bias"]
    out = state["layer.out_proj.weight"]
    return {
        **state,
        "layer.in_proj_weight": weight.view(3, HEADS, -1, WIDTH).flip(1).reshape(weight.shape),
        "layer.in_proj_bias": bias.view(3, HEADS, -1).flip(1).reshape(bias.shape),
        "layer.out_proj.weight": out.view(WIDTH, HEADS, -1).flip(1).reshape(out.shape),
    }


def jostled(seed: int) -> Change:
    """Every parameter but the embedding off by n u, up or down by the coins of a seed."""
    chance = torch.Generator().manual_seed(seed)

    def change(state: State, L: int) -> State:
        off = roundings(L) * FORMATS["float64"].u
        moved = {n: x * (1 + off * coins(x)) for n, x in state.items() if "embedding" not in n}
        return {**state, **moved}

    def coins(x: Tensor) -> Tensor:
        return 2 * torch.randint(2, x.shape, generator=chance).to(x.dtype) - 1

    return change


def roundings(L: int) -> float:
    """How many roundings a term meets in the layer, with L tokens to attend to.

    Projection, score, scale, exponential, sum and quotient, mixture, last projection.
    """
    return (WIDTH + 1) + WIDTH // HEADS + 2 + C_EXP + L + C_DIV + L + (WIDTH + 1)
