"""The dropout rates of a layer, and how a class is built without dropout."""

from collections.abc import Callable
from typing import Any

from spec.backends.calling import told
from spec.runner.layers.rates import rates as rates


def without(build: Callable[..., Any]) -> str:
    """The `make` of a class whose dropout has a parameter; "" if it has none."""
    options = told(build) or {}
    rate = next((n for n, p in options.items() if "drop" in n and p.default is not p.empty), "")
    known = {"bias": "bias", "batch_first": "True", rate: "0.0"}
    words = "".join(f", {name}={x}" for name, x in known.items() if name in options)
    return f"{build.__name__}(A, H{words})" if rate else ""


def undropped(build: Callable[..., Any], layer: Any) -> str:
    """The `make` that a layer which has dropout on needs; "" if it has none on, or no parameter."""
    return without(build) if any(rates(layer)) else ""
