"""The parts of a layer that torch defines: parameters, modes, autograd, an optimiser's step."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch

from spec.backends.torch import by_leaves
from spec.layer.notation import LayerProblem
from spec.layer.state import Names
from spec.runner.arrays.for_torch import FORMATS

Run = Callable[..., Any]  # of the inputs; the output


def made(build: Callable[[], Any], dtype: str, device: str) -> Any:
    """A new layer in `dtype`; what it draws for its parameters is taken from no one else."""
    with torch.random.fork_rng(devices=[]):
        return build().to(device, FORMATS[dtype])


class Completed(torch.nn.Module):
    """A layer whose output is projected once more, as it has no output projection itself."""

    def __init__(self, inner: Any, width: int, bias: bool) -> None:
        super().__init__()
        self.inner, self.output = inner, torch.nn.Linear(width, width, bias=bias)

    def forward(self, *inputs: Any, **options: Any) -> Any:
        """The projected output alone."""
        found = self.inner(*inputs, **options)
        return self.output(found[0] if isinstance(found, tuple) else found)


def load(layer: Any, state: Mapping[str, Any]) -> None:
    """Give the layer these parameters; what else it has of its own stays as it was made."""
    layer.load_state_dict({**_buffers(layer), **state})


def known(wrapped: Any, layer: Any, problem: LayerProblem) -> None:
    """A module of torch says itself which parameters it has."""
    del wrapped, layer, problem


def state(layer: Any, names: Names | None = None) -> dict[str, Any]:
    """The parameters of the layer, under their names; the described ones are among them."""
    del names
    left_out = _buffers(layer)
    return {n: x.detach() for n, x in layer.state_dict().items() if n not in left_out}


def _buffers(layer: Any) -> dict[str, Any]:
    """What a layer saves that nobody learns, such as a triangle."""
    buffers, saved = dict(layer.named_buffers()), layer.state_dict()
    return {name: x for name, x in saved.items() if name in buffers}


def mode(training: bool) -> AbstractContextManager[Any]:
    """How a forward pass runs: with autograd in training, without in evaluation."""
    return torch.set_grad_enabled(training)


def gradients(
    layer: Any, run: Run, arrays: Sequence[Any], dout: Any
) -> tuple[Sequence[Any], dict[str, Any]]:
    """The gradients of <dout, run(arrays)> by the arrays and by the parameters.

    Raises NoGradient: autograd has none by any of them.
    """
    with torch.enable_grad():
        leaves = [x.detach().requires_grad_() for x in arrays]
        wanted = [*leaves, *layer.parameters()]
        full = by_leaves(run(*leaves), wanted, dout)
    return full[: len(leaves)], _as_a_state(layer, full[len(leaves) :])


def _as_a_state(layer: Any, numbers: Sequence[Any]) -> dict[str, Any]:
    """Numbers for all parameters, under the names that the layer's state has for these.

    A layer may keep its parameters in other pieces than it saves them.
    """
    kept = [p.data for p in layer.parameters()]
    for p, x in zip(layer.parameters(), numbers, strict=True):
        p.data = x
    found = {name: x.clone() for name, x in state(layer).items()}
    for p, x in zip(layer.parameters(), kept, strict=True):
        p.data = x
    return found


def step(layer: Any, run: Run, arrays: Sequence[Any], dout: Any, rate: float) -> None:
    """One step of torch's gradient descent on <dout, run(arrays)>."""
    descent = torch.optim.SGD(layer.parameters(), lr=rate)
    with torch.enable_grad():
        (run(*arrays) * dout).sum().backward()
    descent.step()
