"""Arrays to and from the libraries that implementations are written in.

    from spec.backends import implementation
    record = implementation(attend)     # a function of query, key, value, ...

A library is imported only when a target needs it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from spec.backends.described import Description
from spec.backends.inference import NAMES, inferred
from spec.backends.layers import WrappedLayer
from spec.backends.library import Library
from spec.backends.signature import Unsuitable, name_of, signature_of
from spec.backends.wrapping import Wrapped
from spec.implementation import Implementation, not_offered
from spec.layer.record import Layer

__all__ = ["NAMES", "Unsuitable", "implementation", "inferred", "layer", "library"]

LAYOUTS = ("bhld", "blhd")
LAYERED = ("torch", "numpy")  # the libraries that a layer may be written in


def library(name: str, device: str = "cpu") -> Library:
    """The array library `name` on `device`.

    Raises Unsuitable: an unknown or absent library, or a device that is not there.
    """
    if name not in NAMES:
        raise Unsuitable(f"unknown backend {name!r}: choose from {', '.join(NAMES)}")
    try:
        module = importlib.import_module(f"spec.backends.{name}")
    except ImportError as error:
        raise Unsuitable(f"the {name} backend cannot be loaded: {error}") from None
    found: Library = module.library(device)
    return found


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
    arrays = library(backend or inferred(function)[0], device)
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


def layer(
    build: Callable[..., Any],
    *,
    names: Mapping[str, str] | None = None,
    make: Callable[..., Any] | None = None,
    inputs: int = 3,
    causal: str = "asked",
    positions: str = "none",
    masks: Mapping[str, str] | None = None,
    given: Mapping[str, Callable[..., Any]] | None = None,
    name: str | None = None,
    backend: str | None = None,
    device: str = "cpu",
    conventions: Mapping[str, str] | None = None,
    dtypes: tuple[str, ...] | None = None,
    origin: str = "",
) -> Layer:
    """The record of a class that is built and called like `torch.nn.MultiheadAttention`.

    Or otherwise: names, of its parameters, each with those of ours that stand in it, as
    {"c_attn.weight": "W_q W_k W_v"}; one that has no place for W_o is completed by an output
    projection. make(A, H, bias): the layer; of G too, if heads may share keys. inputs: 3, or 1
    for one text. causal: "always", or "asked". positions: "rotary halves", or "rotary
    interleaved", if it turns inside. masks, given: what a call is told (see `described`).
    Raises Unsuitable: a description that makes no sense, an unknown backend or dtype, or one
    that has no layers.
    """
    told = Description.of(names, make, inputs, masks, given)
    own = {}
    for word, convention, value in (
        ("causal", "causality", causal),
        ("positions", "positions", positions),
    ):
        usual, *others = Layer.choices[convention]
        if value not in (usual, *others):
            raise Unsuitable(f"{word} is {value!r}, want {usual} or {' or '.join(others)}")
        if value != usual:
            own[convention] = value
    written_in = backend or inferred(build)[0]
    if written_in in NAMES and written_in not in LAYERED:
        raise Unsuitable(f"layers of {written_in} are not judged: choose {' or '.join(LAYERED)}")
    arrays = library(written_in, device)
    if not told.complete and arrays.name != "torch":
        raise Unsuitable("names: W_o has no place, and only layers of torch are completed")
    wrapped = WrappedLayer(build, arrays, told=told)
    title = name or name_of(build)
    differentiated = arrays.differentiate is not None or hasattr(build, "backward")
    return Layer(
        name=title if told.complete else f"{title}, with an output projection",
        forward=wrapped.forward,
        weights=wrapped.weights if "need_weights" in wrapped.takes else not_offered,
        backward=wrapped.backward if differentiated else not_offered,
        step=wrapped.step if arrays.name == "torch" or hasattr(build, "step") else not_offered,
        state=wrapped.state,
        sequence=wrapped.sequence,
        call=wrapped.watched,
        answers=wrapped.kinds,
        differentiates=wrapped.kinds,
        dtypes=known(dtypes or ("float64", "float32"), arrays),
        conventions=own | dict(conventions or getattr(build, "conventions", {})),
        origin=origin,
    )


def known(dtypes: tuple[str, ...], arrays: Library) -> tuple[str, ...]:
    """`dtypes`, once the library has them all. Raises Unsuitable otherwise."""
    for dtype in dtypes:
        if dtype not in arrays.dtypes:
            title = {"numpy": "NumPy", "torch": "PyTorch", "jax": "JAX"}[arrays.name]
            raise Unsuitable(f"the {title} backend has no {dtype}")
    return dtypes


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
    found = {
        "backward": given.given_gradients,
        "differentiates": kinds & given.signature.kinds,
    }
    of_mask = getattr(wrapped.function, "bias_gradient", None)
    if callable(of_mask):
        found["bias_gradient"] = _given(wrapped, of_mask).given_mask_gradient
    return found


def _given(wrapped: Wrapped, function: Callable[..., Any]) -> Wrapped:
    """A function of dout, query, key, value in place of the attention function."""
    signature = signature_of(function, roles=("dout", "q", "k", "v"))
    return replace(wrapped, function=function, signature=signature)
