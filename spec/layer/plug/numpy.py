"""A layer of NumPy arrays: a class with torch's names, and gradients that it has itself.

layer(query, key, value, ...)     layer.load_state_dict(state)     layer.state_dict()
    without these two methods, its parameters are attributes with the names of a description
layer.train(mode)                 if it knows training from evaluation
layer.backward(dout)              (dquery, dkey, dvalue, {name: gradient}) of the last call
layer.step(rate)                  parameters less rate times their gradients
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from spec.backends.results import WrongArray, words
from spec.comparison import Violation
from spec.layer.notation import LayerProblem
from spec.layer.plug.attributes import at, put
from spec.layer.plug.guessing import undescribed
from spec.layer.state import Names

Run = Callable[..., Any]  # of the inputs; the output


def made(build: Callable[[], Any], dtype: str, device: str) -> Any:
    """A new layer; its parameters come in `dtype`."""
    del dtype, device
    return build()


def known(wrapped: Any, layer: Any, problem: LayerProblem) -> None:
    """Raises WrongArray: nobody says where its parameters are, neither it nor a description."""
    if wrapped.told.of_torch and not hasattr(layer, "state_dict"):
        raise WrongArray(undescribed(wrapped, layer, problem))


def load(layer: Any, state: Mapping[str, Any]) -> None:
    """Give the layer these parameters, as attributes where it has no `load_state_dict`."""
    copies = {name: x.copy() for name, x in state.items()}
    if hasattr(layer, "load_state_dict"):
        layer.load_state_dict(copies)
        return
    for name, x in copies.items():
        put(layer, name, x)


def state(layer: Any, names: Names) -> dict[str, Any]:
    """The parameters of the layer, under their names; those that it does not have are left out."""
    if hasattr(layer, "state_dict"):
        return dict(layer.state_dict())
    found = {name: at(layer, name) for name in names}
    return {name: _one(x) for name, x in found.items() if x is not None}


def _one(x: Any) -> Any:
    """The matrices of a list, one for each head, as one array; anything else as it is."""
    return np.stack(x) if isinstance(x, list | tuple) and x else x


def mode(training: bool) -> AbstractContextManager[Any]:
    """How a forward pass runs: the same either way."""
    del training
    return nullcontext()


def gradients(
    layer: Any, run: Run, arrays: Sequence[Any], dout: Any
) -> tuple[Sequence[Any], dict[str, Any]]:
    """The results of `backward` after a call: the sum for an array that is used several times.

    Raises Violation: it is not a gradient for each input, and a mapping of those of parameters.
    """
    run(*arrays)
    found = layer.backward(dout)
    if not isinstance(found, tuple | list) or not found or not isinstance(found[-1], Mapping):
        raise Violation(f"backward returned {words(found)}, want (dx, ..., gradients by name)")
    *of_inputs, of_parameters = found
    if len(arrays) < len(of_inputs):
        last = len(arrays) - 1
        of_inputs[last:] = [np.add.reduce(of_inputs[last:])]
    return of_inputs, {name: _one(x) for name, x in of_parameters.items()}


def step(layer: Any, run: Run, arrays: Sequence[Any], dout: Any, rate: float) -> None:
    """One step of gradient descent on <dout, run(arrays)>."""
    run(*arrays)
    layer.backward(dout)
    layer.step(rate)
