"""The dropout rates of a layer."""

from collections.abc import Iterator
from typing import Any

RATES = ("p", "rate")  # what a part that is called a dropout calls its rate


def rates(layer: Any) -> Iterator[tuple[str, float]]:
    """The dropout rates of a layer and its parts, by the paths of their attributes."""
    parts = layer.named_modules() if hasattr(layer, "named_modules") else [("", layer)]
    for path, part in parts:
        of_dropout = "drop" in type(part).__name__.lower()
        for name, x in getattr(part, "__dict__", {}).items():
            if "drop" in name or (of_dropout and name in RATES):
                yield from [(f"{path}.{name}".lstrip("."), x)] if type(x) is float and x > 0 else ()
