"""Changes that would make a layer right: results in another dtype, matrices on the other side.

A square matrix has one shape either way, so that only its products tell how it is used.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any

from spec.backends.calling import anew, behind
from spec.layer.axes import OURS, parts_of, turned
from spec.layer.notation import BIASES, LayerProblem
from spec.layer.plug.arrays import LayerArrays
from spec.layer.plug.layers import WrappedLayer
from spec.layer.record import Layer
from spec.notation import DTYPES

WEIGHTS = tuple(name for name in OURS if name not in BIASES)
INNER = WEIGHTS[:-1]  # all but the output projection


class Cast(WrappedLayer):
    """A layer whose results are taken as if they were cast to the dtype of its inputs."""

    def _arrays(self, problem: LayerProblem) -> LayerArrays:
        told = self.library.dtype_of

        def cast(x: Any) -> str | None:
            return problem.dtype if told(x) in DTYPES else told(x)

        library = replace(self.library, dtype_of=cast)
        return LayerArrays(library, problem, self.told.in_full)


def _cast(raw: Layer) -> Layer | None:
    """The layer with its results cast; None if it is no class that is plugged in."""
    seen = behind(raw.forward, WrappedLayer)
    if seen is None:
        return None
    known = Cast(**{x.name: getattr(seen, x.name) for x in fields(seen)})

    def through(_: str, function: Callable[..., Any]) -> Any:
        return getattr(known, function.__name__) if behind(function, WrappedLayer) else function

    return raw.through(through)


def _turned(weights: tuple[str, ...], raw: Layer) -> Layer | None:
    """The layer with these matrices described the other way round; None if none is described."""
    seen = behind(raw.forward, WrappedLayer)
    if seen is None or seen.told.of_torch:
        return None
    names = {
        name: turned(text) if {*parts_of(text)} <= {*weights} else text
        for name, text in seen.told.names.items()
    }
    if names == seen.told.names:
        return None
    told = replace(seen.told, names=names)

    def through(_: str, function: Callable[..., Any]) -> Any:
        return anew(function, told=told) if behind(function, WrappedLayer) else function

    return raw.through(through)


def _words(weights: tuple[str, ...]) -> str:
    *first, last = weights
    listed = f"{', '.join(first)} and {last}" if first else last
    is_are = "are" if first else "is"
    return f"{listed} {is_are} described with the axes in and out the other way round"


LENSES: Mapping[str, Callable[[Layer], Layer | None]] = {
    "the results are cast to the dtype of the inputs": _cast,
    **{
        _words(weights): partial(_turned, weights)
        for weights in (WEIGHTS, INNER, *((name,) for name in WEIGHTS))
    },
}
