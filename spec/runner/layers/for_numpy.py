"""A layer of NumPy arrays: a class with torch's names, and gradients that it has itself."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .attributes import at, put


def moved(layer: Any, dtype: str, device: str) -> Any:
    """The layer itself; its parameters come in a dtype."""
    del dtype, device
    return layer


def load(layer: Any, state: Mapping[str, Any]) -> None:
    """Give the layer these parameters, as attributes where it has no `load_state_dict`."""
    copies = {name: x.copy() for name, x in state.items()}
    if hasattr(layer, "load_state_dict"):
        layer.load_state_dict(copies)
        return
    for name, x in copies.items():
        put(layer, name, x)


def state(layer: Any, names: Iterable[str] = ()) -> dict[str, Any]:
    """The parameters of the layer, under their names; those that it does not have are left out."""
    if hasattr(layer, "state_dict"):
        return dict(layer.state_dict())
    found = {name: at(layer, name) for name in names}
    return {name: one(x) for name, x in found.items() if x is not None}


def one(x: Any) -> Any:
    """The matrices of a list, one for each head, as one array; anything else as it is."""
    return np.stack(x) if isinstance(x, list | tuple) and x else x


def back(layer: Any, dout: Any, inputs: int) -> Any:
    """The results of `backward`: the sum for an array that is used several times.

    They are returned as they are where they are not a gradient for each input, and a mapping of
    those of parameters.
    """
    found = layer.backward(dout)
    if not isinstance(found, tuple | list) or not found or not isinstance(found[-1], Mapping):
        return found
    *of_inputs, of_parameters = found
    if inputs < len(of_inputs):
        of_inputs[inputs - 1 :] = [np.add.reduce(of_inputs[inputs - 1 :])]
    return of_inputs, {name: one(x) for name, x in of_parameters.items()}
