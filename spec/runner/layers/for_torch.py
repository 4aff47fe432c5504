"""The parts of a layer that torch defines: parameters, modes, autograd, an optimiser's step."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from ..arrays.for_torch import FORMATS, by_leaves


def moved(layer: Any, dtype: str, device: str) -> Any:
    """The layer in a dtype, on a device."""
    return layer.to(device, FORMATS[dtype])


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


def state(layer: Any, names: Iterable[str] = ()) -> dict[str, Any]:
    """The parameters of the layer, under their names; the described ones are among them."""
    del names
    left_out = _buffers(layer)
    return {n: x.detach() for n, x in layer.state_dict().items() if n not in left_out}


def _buffers(layer: Any) -> dict[str, Any]:
    """What a layer saves that nobody learns, such as a triangle."""
    buffers, saved = dict(layer.named_buffers()), layer.state_dict()
    return {name: x for name, x in saved.items() if name in buffers}


def pulled(
    layer: Any, leaves: Sequence[Any], out: Any, dout: Any
) -> tuple[list[Any], dict[str, Any]]:
    """The gradients of <dout, out> by the leaves, and by the parameters. Raises NoGradient."""
    with torch.enable_grad():
        full = by_leaves([out], [*leaves, *layer.parameters()], [dout])
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


def step(layer: Any, out: Any, dout: Any, rate: float) -> None:
    """One step of torch's gradient descent on <dout, out>."""
    descent = torch.optim.SGD(layer.parameters(), lr=rate)
    with torch.enable_grad():
        (out * dout).sum().backward()
    descent.step()
