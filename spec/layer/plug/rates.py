"""The dropout rates of a layer, and how a class is built without dropout."""

from collections.abc import Callable, Iterator
from typing import Any

from spec.backends.calling import told

RATES = ("p", "rate")  # what a part that is called a dropout calls its rate


def rates(layer: Any) -> Iterator[tuple[str, float]]:
    """The dropout rates of a layer and its parts, by the paths of their attributes."""
    parts = layer.named_modules() if hasattr(layer, "named_modules") else [("", layer)]
    for path, part in parts:
        of_dropout = "drop" in type(part).__name__.lower()
        for name, x in getattr(part, "__dict__", {}).items():
            if "drop" in name or (of_dropout and name in RATES):
                yield from [(f"{path}.{name}".lstrip("."), x)] if type(x) is float and x > 0 else ()


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
