"""The parts of a layer that its library defines, for a layer in a runner."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from spec.backends.library import Library
from spec.backends.results import WrongArray, words
from spec.boundary.far import asked, home_of
from spec.boundary.messages import LARGEST, Interfered, several, text, whole
from spec.boundary.remote import recorded
from spec.comparison import Violation
from spec.layer.notation import LayerProblem
from spec.layer.plug.guessing import undescribed
from spec.layer.plug.numpy import of_backward
from spec.layer.state import Names

Run = Callable[..., Any]  # of the inputs; the output


class Layers:
    """The functions of a library for layers; each is done in the runner of a target.

    names: of the parameters. first: the last layer that was made, and the parameters it had then.
    """

    def __init__(self, target: Any, library: Library, names: Names) -> None:
        self.home, self.library, self.names = home_of(target), library, [*names]
        self.first: tuple[Any, Any] | None = None

    def _done(self, how: str, layer: Any, **told: Any) -> Any:
        return asked(self.home, "layer", of=layer, how=how, **told)

    def made(self, build: Callable[[], Any], dtype: str, device: str) -> Any:
        """A new layer in `dtype`; what it draws for its parameters is taken from no one else."""
        before, self.home.keeping = self.home.keeping, True
        try:
            layer = build()
        finally:
            self.home.keeping = before
        found = self._done("moved", layer, dtype=dtype, device=device, names=self.names)
        if not isinstance(found, tuple) or len(found) != 2:
            raise Interfered("sent something else in the place of a layer")
        self.first = found
        return found[0]

    def Completed(self, inner: Any, width: int, bias: bool) -> Any:
        """A layer whose output is projected once more."""
        return self._done("Completed", inner, width=width, bias=bias)

    def known(self, wrapped: Any, layer: Any, problem: LayerProblem) -> None:
        """Raises WrongArray: nobody says where its parameters are, neither it nor a description."""
        described = self.library.name == "torch" or not wrapped.told.of_torch
        if not described and not hasattr(layer, "state_dict"):
            found = self._done("arrays", layer)
            shapes = ((text(path), _sizes(shape)) for path, shape in several(found, 0))
            raise WrongArray(undescribed(wrapped, layer, problem, shapes))

    def load(self, layer: Any, state: Mapping[str, Any]) -> None:
        """Give the layer these parameters."""
        self.first = None
        self._done("load", layer, state=state)

    def train(self, layer: Any, training: bool) -> None:
        """Have the layer run as in training, or as in evaluation, if it knows them apart."""
        self._done("train", layer, training=training)

    def state(self, layer: Any, names: Names) -> dict[str, Any]:
        """The parameters of the layer, under their names. Raises Violation: there are none."""
        known, self.first = self.first, None
        if known is not None and known[0] is layer:
            _, found = known
        else:
            found = self._done("state", layer, names=[*names])
        if not isinstance(found, dict):
            raise Violation(f"its state is {words(found)}, want arrays by their names")
        return found

    @contextmanager
    def mode(self, training: bool) -> Iterator[None]:
        """How a forward pass runs: with autograd in training, without in evaluation."""
        before, self.home.recording = self.home.recording, training
        try:
            yield
        finally:
            self.home.recording = before

    def gradients(
        self, layer: Any, run: Run, arrays: Sequence[Any], dout: Any
    ) -> tuple[Sequence[Any], dict[str, Any]]:
        """The gradients of <dout, run(arrays)> by the arrays and by the parameters."""
        if self.library.name == "numpy":
            run(*arrays)
            return of_backward(self._done("back", layer, dout=dout, inputs=len(arrays)))
        out = recorded(run, arrays)
        return of_backward(self._done("pulled", layer, tape=out.tape, out=out, dout=dout))

    def step(self, layer: Any, run: Run, arrays: Sequence[Any], dout: Any, rate: float) -> None:
        """One step of gradient descent on <dout, run(arrays)>."""
        if self.library.name == "numpy":
            run(*arrays)
            layer.backward(dout)
            layer.step(rate)
            return
        with self.mode(training=True):
            out = run(*arrays)
        self._done("step", layer, out=out, dout=dout, rate=rate)

    def rates(self, layer: Any) -> list[tuple[str, float]]:
        """The dropout rates of a layer and its parts, by the paths of their attributes."""
        return [(name, rate) for name, rate in self._done("rates", layer)]


def _sizes(shape: Any) -> tuple[int, ...]:
    """A shape in an answer. Raises Interfered."""
    return tuple(whole(size, 0, LARGEST) for size in several([*shape], 0))
