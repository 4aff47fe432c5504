"""What would make the answers of an attention function right, where a last step was left out."""

from collections.abc import Callable, Mapping
from typing import Any

from spec.attention.plug.wrapping import Wrapped
from spec.attention.record import Implementation
from spec.backends.calling import anew, behind


def cast(raw: Implementation) -> Implementation | None:
    """The function with its output in the dtype of the queries."""
    wrapped = behind(raw.forward, Wrapped)
    return None if wrapped is None else _with_function(raw, wrapped, _casting(wrapped))


def _casting(wrapped: Wrapped) -> Callable[..., Any]:
    query = wrapped.signature.arrays[0]

    def casting(*arrays: Any, **options: Any) -> Any:
        result = wrapped.function(*arrays, **options)
        dtype = (arrays[0] if query is None else options[query]).dtype
        turned = getattr(result, "to", None) or getattr(result, "astype", None)
        return result if turned is None else turned(dtype)

    return casting


def _with_function(
    raw: Implementation, wrapped: Wrapped, function: Callable[..., Any]
) -> Implementation:
    """The record with another function in the place of the one that is called."""
    own = {n: (f, behind(f, Wrapped)) for n, f in raw.offered.items()}
    same = {n: f for n, (f, x) in own.items() if x and x.function == wrapped.function}
    return raw.but(**{name: anew(f, function=function) for name, f in same.items()})


LENSES: Mapping[str, Callable[[Implementation], Implementation | None]] = {
    "the output is cast to the dtype of the queries": cast
}
