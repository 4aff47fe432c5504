"""The parts of a layer that torch defines, for a layer in this process."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch

from spec.backends.torch import by_leaves as by_leaves
from spec.layer.notation import LayerProblem
from spec.layer.state import Names
from spec.runner import errors
from spec.runner.layers import for_torch
from spec.runner.layers import train as train
from spec.runner.layers.for_torch import Completed as Completed
from spec.runner.layers.for_torch import load as load
from spec.subject import NoGradient

Run = Callable[..., Any]  # of the inputs; the output


def made(build: Callable[[], Any], dtype: str, device: str) -> Any:
    """A new layer in `dtype`; what it draws for its parameters is taken from no one else."""
    with torch.random.fork_rng(devices=[]):
        return for_torch.moved(build(), dtype, device)


def known(wrapped: Any, layer: Any, problem: LayerProblem) -> None:
    """A module of torch says itself which parameters it has."""
    del wrapped, layer, problem


def state(layer: Any, names: Names | None = None) -> dict[str, Any]:
    """The parameters of the layer, under their names; the described ones are among them."""
    return for_torch.state(layer, names or ())


def mode(training: bool) -> AbstractContextManager[Any]:
    """How a forward pass runs: with autograd in training, without in evaluation."""
    return torch.set_grad_enabled(training)


def gradients(
    layer: Any, run: Run, arrays: Sequence[Any], dout: Any
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The gradients of <dout, run(arrays)> by the arrays and by the parameters.

    Raises NoGradient: autograd has none by any of them.
    """
    with torch.enable_grad():
        leaves = [x.detach().requires_grad_() for x in arrays]
        out = run(*leaves)
    try:
        return for_torch.pulled(layer, leaves, out, dout)
    except errors.NoGradient as reason:
        raise NoGradient(str(reason)) from None


def step(layer: Any, run: Run, arrays: Sequence[Any], dout: Any, rate: float) -> None:
    """One step of torch's gradient descent on <dout, run(arrays)>."""
    with torch.enable_grad():
        out = run(*arrays)
    for_torch.step(layer, out, dout, rate)
