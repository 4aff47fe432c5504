"""An ordinary attention function plugged in."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from spec.attention.plug.signature import signature_of
from spec.attention.plug.wrapping import Wrapped
from spec.attention.record import Implementation
from spec.backends import known
from spec.backends.calling import behind, library_of
from spec.backends.library import Unsuitable, name_of
from spec.subject import not_offered

LAYOUTS = ("bhld", "blhd")


def implementation(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    backend: str | None = None,
    layout: str = "bhld",
    device: str = "cpu",
    backward: Callable[..., Any] | None = None,
    weights: Callable[..., Any] | None = None,
    lse: Callable[..., Any] | None = None,
    training: Callable[..., Any] | None = None,
    conventions: Mapping[str, str] | None = None,
    dtypes: tuple[str, ...] | None = None,
    origin: str = "",
) -> Implementation:
    """The record of an ordinary attention function, its parameters matched by name.

    backward(dout, query, key, value, **options) -> (dq, dk, dv) and weights, lse and training
    (the output as training computes it, where that is another function), called like the
    function, default to its attributes of that name; so does
    bias_gradient(dout, query, key, value, **options), shaped like the mask.
    Raises Unsuitable: a function that cannot be called as attention, an unknown
    layout, backend or dtype.
    """
    if layout not in LAYOUTS:
        raise Unsuitable(f"unknown layout {layout!r}: choose from {', '.join(LAYOUTS)}")
    arrays = library_of(function, backend, device)
    wrapped = Wrapped(function, signature_of(function), arrays, layout)
    return Implementation(
        name=name or name_of(function),
        forward=wrapped.forward,
        call=wrapped.watched,
        answers=wrapped.signature.kinds,
        dtypes=known(dtypes or arrays.dtypes, arrays),
        conventions=conventions or getattr(function, "conventions", {}),
        origin=origin,
        **{
            **_gradients(wrapped, backward or getattr(function, "backward", None)),
            **_extras(wrapped, {"weights": weights, "lse": lse, "training": training}),
        },
    )


def _extras(wrapped: Wrapped, given: Mapping[str, Callable[..., Any] | None]) -> dict[str, Any]:
    """Weights, log-sum-exp and output in training, where function or caller has them."""
    extras: dict[str, Any] = {}
    for name, chosen in given.items():
        function = chosen or getattr(wrapped.function, name, None)
        if callable(function):
            other = replace(wrapped, function=function, signature=signature_of(function))
            extras[name] = other.forward if name == "training" else getattr(other, name)
    return extras


def _gradients(wrapped: Wrapped, backward: Callable[..., Any] | None) -> dict[str, Any]:
    """The gradients: those that are given, else the library's own."""
    kinds = wrapped.signature.kinds
    if not callable(backward):
        if wrapped.library.differentiate is None:
            return {"backward": not_offered, "differentiates": kinds}
        return {
            "backward": wrapped.gradients,
            "partial": wrapped.partial,
            "bias_gradient": wrapped.mask_gradient,
            "training": wrapped.training,
            "differentiates": kinds,
        }
    given = _given(wrapped, backward)
    found = {"backward": given.given_gradients, "differentiates": kinds & given.signature.kinds}
    of_mask = getattr(wrapped.function, "bias_gradient", None)
    if callable(of_mask):
        found["bias_gradient"] = _given(wrapped, of_mask).given_mask_gradient
    return found


def _given(wrapped: Wrapped, function: Callable[..., Any]) -> Wrapped:
    """A function of dout, query, key, value in place of the attention function."""
    signature = signature_of(function, roles=("dout", "q", "k", "v"))
    return replace(wrapped, function=function, signature=signature)


def program(record: Any) -> Any:
    """What a record was made of here; None where it was put together by hand.

    A record that somebody else made says what it likes about itself, and is not asked.
    """
    seen = behind(record.forward, Wrapped)
    return None if seen is None else seen.function
