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

from spec.backends.results import WrongArray, words
from spec.comparison import Violation
from spec.layer.notation import LayerProblem
from spec.layer.plug.guessing import undescribed
from spec.layer.state import Names
from spec.runner.layers import for_numpy
from spec.runner.layers import train as train
from spec.runner.layers.for_numpy import load as load
from spec.runner.layers.paths import arrays

Run = Callable[..., Any]  # of the inputs; the output


def made(build: Callable[[], Any], dtype: str, device: str) -> Any:
    """A new layer; its parameters come in `dtype`."""
    return for_numpy.moved(build(), dtype, device)


def known(wrapped: Any, layer: Any, problem: LayerProblem) -> None:
    """Raises WrongArray: nobody says where its parameters are, neither it nor a description."""
    if wrapped.told.of_torch and not hasattr(layer, "state_dict"):
        raise WrongArray(undescribed(wrapped, layer, problem, arrays(layer)))


def state(layer: Any, names: Names) -> dict[str, Any]:
    """The parameters of the layer, under their names; those that it does not have are left out."""
    return for_numpy.state(layer, names)


def mode(training: bool) -> AbstractContextManager[Any]:
    """How a forward pass runs: the same either way."""
    del training
    return nullcontext()


def gradients(
    layer: Any, run: Run, arrays: Sequence[Any], dout: Any
) -> tuple[Sequence[Any], dict[str, Any]]:
    """The results of `backward` after a call: the sum for an array that is used several times."""
    run(*arrays)
    return of_backward(for_numpy.back(layer, dout, len(arrays)))


def of_backward(found: Any) -> tuple[Sequence[Any], dict[str, Any]]:
    """The gradients by inputs and by parameters, of what `backward` returned.

    Raises Violation: it is not a gradient for each input, and a mapping of those of parameters.
    """
    if not isinstance(found, tuple) or len(found) != 2 or not isinstance(found[1], Mapping):
        raise Violation(f"backward returned {words(found)}, want (dx, ..., gradients by name)")
    of_inputs, of_parameters = found
    return of_inputs, dict(of_parameters)


def step(layer: Any, run: Run, arrays: Sequence[Any], dout: Any, rate: float) -> None:
    """One step of gradient descent on <dout, run(arrays)>."""
    run(*arrays)
    layer.backward(dout)
    layer.step(rate)
