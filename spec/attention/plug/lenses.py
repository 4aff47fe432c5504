"""What would make the answers of an attention function right: what it is given, or a last step.

A lens is a function in the place of the one that is called, which it calls.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from spec.attention.plug.wrapping import INPUTS, Wrapped
from spec.attention.record import Implementation
from spec.backends.calling import anew, behind

Function = Callable[..., Any]
Lens = Callable[[Wrapped], Function | None]


def cast(wrapped: Wrapped) -> Function:
    """The output in the dtype of the queries."""

    def casting(*arrays: Any, **options: Any) -> Any:
        result = wrapped.function(*arrays, **options)
        dtype = _in_order(wrapped, arrays, options)[0].dtype
        turned = getattr(result, "to", None) or getattr(result, "astype", None)
        return result if turned is None else turned(dtype)

    return casting


def scaled(wrapped: Wrapped) -> Function | None:
    """The default scale, given where none is asked for; None where none can be given."""
    name = wrapped.signature.options.get("scale")
    if name is None:
        return None

    def scaling(*arrays: Any, **options: Any) -> Any:
        if options.get(name) is None:
            width = _in_order(wrapped, arrays, options)[0].shape[-1]
            options[name] = 1 / max(width, 1) ** 0.5
        return wrapped.function(*arrays, **options)

    return scaling


def swapped(one: str, other: str, wrapped: Wrapped) -> Function:
    """One array in the place of another."""
    swap = {one: other, other: one}
    order = [INPUTS.index(swap.get(name, name)) for name in INPUTS]

    def swapping(*arrays: Any, **options: Any) -> Any:
        given = _in_order(wrapped, arrays, options)
        ordered, named = wrapped.signature.arranged([given[place] for place in order])
        return wrapped.function(*ordered, **{**options, **named})

    return swapping


def _in_order(wrapped: Wrapped, arrays: Sequence[Any], options: Mapping[str, Any]) -> list[Any]:
    """The query, the key and the value, however they are given."""
    left = iter(arrays)
    return [next(left) if name is None else options[name] for name in wrapped.signature.arrays]


def through(lens: Lens, raw: Implementation) -> Implementation | None:
    """The record seen through a lens, if it can be."""
    wrapped = behind(raw.forward, Wrapped)
    function = None if wrapped is None else lens(wrapped)
    if wrapped is None or function is None:
        return None
    own = {n: (f, behind(f, Wrapped)) for n, f in raw.offered.items()}
    same = {n: f for n, (f, x) in own.items() if x and x.function == wrapped.function}
    return raw.but(**{name: anew(f, function=function) for name, f in same.items()})


LENSES: Mapping[str, Callable[[Implementation], Implementation | None]] = {
    "the output is cast to the dtype of the queries": partial(through, cast),
    "the scale is given, 1 / sqrt(D)": partial(through, scaled),
    "query and key change places": partial(through, partial(swapped, "q", "k")),
    "key and value change places": partial(through, partial(swapped, "k", "v")),
}
