"""The dropout rates of a layer, and how a class is built without dropout."""

from collections.abc import Callable
from typing import Any

from spec.backends.calling import told
from spec.backends.library import Elsewhere
from spec.runner.layers.rates import rates as rates


def without(build: Callable[..., Any]) -> str:
    """The `make` of a class whose dropout has a parameter; "" if it has none."""
    options = told(build) or {}
    rate = next((n for n, p in options.items() if "drop" in n and p.default is not p.empty), "")
    known = {"bias": "bias", "batch_first": "True", rate: "0.0"}
    words = "".join(f", {name}={x}" for name, x in known.items() if name in options)
    return f"{build.__name__}(A, H{words})" if rate else ""


def rates_of(wrapped: Any, layer: Any) -> list[tuple[str, float]]:
    """The dropout rates of a layer and its parts, wherever it lives."""
    found = wrapped.of_layers.rates if isinstance(wrapped.build, Elsewhere) else rates
    return [*found(layer)]


def undropped(wrapped: Any, layer: Any) -> str:
    """The `make` that a layer which has dropout on needs; "" if it has none on, or no parameter."""
    return without(wrapped.build) if rates_of(wrapped, layer) else ""
