"""Inputs for the published systems, and the budgets of what two sides compute of them.

Two sides are held to twice the budget that `spec` derives for one: of an attention problem, or
of a layer problem, which chains projections and attention.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np

from spec.comparison import equal
from spec.layer.notation import LayerProblem, Parameters
from spec.layer.rounding import Budgets
from spec.layer.state import parameters_of
from spec.notation import Array

if find_spec("torch"):
    import torch

B, H, N, M, D = 2, 3, 5, 7, 11
E = H * D


def drawn(*shapes: tuple[int, ...], seed: int = 0) -> list[Array]:
    chance = np.random.default_rng(seed)
    return [chance.standard_normal(shape) for shape in shapes]


def three() -> list[Array]:
    """A query, a key and a value of different lengths."""
    return drawn((B, N, E), (B, M, E), (B, M, E))


def tensors(*arrays: Array) -> list[Any]:
    return [torch.from_numpy(x) for x in arrays]


@contextmanager
def same_draws() -> Iterator[None]:
    """Let torch draw as if for the first time: the layers of a test do not depend on others."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def posed(
    parameters: Parameters, heads: int, query: Array, key: Array, value: Array, **more: Any
) -> Budgets:
    """The budgets of a layer on these inputs; the cotangent is zero unless it is given."""
    dout = more.pop("dout", np.zeros((*query.shape[:2], len(parameters.W_o))))
    return Budgets(LayerProblem(query, key, value, dout, parameters, heads, **more))


def of_layer(layer: Any, query: Array, key: Array, value: Array, **more: Any) -> Budgets:
    """The same for a layer in torch, or any with torch's names."""
    state = {name: x.detach().double().numpy() for name, x in layer.state_dict().items()}
    return posed(parameters_of(state), layer.num_heads, query, key, value, **more)


def compared(got: Parameters, want: Parameters, within: Parameters) -> None:
    for name, x in got.named().items():
        equal(x, want.named()[name], within=within.named()[name])


def moved(x: Any) -> Any:
    """A parameter a little off, as torch's biases begin at zero and would not be missed."""
    return x + torch.linspace(-0.5, 0.5, x.numel(), dtype=x.dtype).view(x.shape)


def alike(ours: Any, theirs: Any, query: Array, key: Array, value: Array) -> None:
    """Two layers with the same weights give the same output, and the same mean weights."""
    theirs.load_state_dict({n: moved(x) for n, x in ours.state_dict().items()})
    ours.load_state_dict(theirs.state_dict())
    inputs = tensors(query, key, value)
    with torch.no_grad():
        got, got_a = (x.numpy() for x in ours(*inputs))
        want, want_a = (x.numpy() for x in theirs(*inputs))
        each = ours(*inputs, average_attn_weights=False)[1].numpy()
        assert ours(*inputs, need_weights=False)[1] is None
    budget = of_layer(theirs, query, key, value)
    equal(got, want, within=2 * budget.of_output)
    equal(got_a, want_a, within=2 * budget.of_mean_weights)
    equal(each, budget.weights, within=budget.of_weights)
