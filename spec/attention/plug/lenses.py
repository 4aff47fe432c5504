"""Changes that may make an attention function right: of its arguments, or of its result.

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
    """The query, the key and the value, however they are given, and behind what else."""
    left, names = iter(arrays), wrapped.signature.arrays
    return [next(left) if name is None else options[name] for name in names][-len(INPUTS) :]


def through(lens: Lens, raw: Implementation, beside: bool = False) -> Implementation | None:
    """The record seen through a lens, if it can be.

    beside: whether other functions change as well, for example its own gradients.
    """
    known = {name: behind(f, Wrapped) for name, f in raw.offered.items()}
    called = known["forward"]
    if called is None:
        return None
    seen = {n: x for n, x in known.items() if x and (beside or x.function == called.function)}
    functions = {name: lens(x) for name, x in seen.items()}
    if functions["forward"] is None:
        return None
    changed = {n: anew(raw.offered[n], function=f) for n, f in functions.items() if f is not None}
    return raw.but(**changed)


LENSES: Mapping[str, Callable[[Implementation], Implementation | None]] = {
    "the output is cast to the dtype of the queries": partial(through, cast),
    "the scale is given, 1 / sqrt(D)": partial(through, scaled, beside=True),
    "query and key change places": partial(through, partial(swapped, "q", "k")),
    "key and value change places": partial(through, partial(swapped, "k", "v")),
}
