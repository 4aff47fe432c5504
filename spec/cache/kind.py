"""Caches, as the engine asks for them."""

import inspect

import numpy as np

from spec.cache.definition import DEFINITION
from spec.cache.mistakes import MISTAKES
from spec.cache.notation import Problem
from spec.cache.plug import cache
from spec.cache.reading import reading
from spec.entries import eighths
from spec.kind import Kind


def text(dtype: str) -> Problem:
    """A text of five tokens in two sequences, in chunks of two."""
    shapes = {"q": (2, 3, 5, 4), "k": (2, 3, 5, 4), "v": (2, 3, 5, 4)}
    shapes |= {f"{name}_other": (2, 3, 2, 4) for name in "qkv"}
    q, k, v, *other = (eighths(*shape, seed=i) for i, shape in enumerate(shapes.values()))
    arrivals, lengths = np.full((2, 2), 2), np.array([5, 5])
    return Problem(q, k, v, other[0], other[1], other[2], arrivals, lengths, dtype=dtype)


KIND = Kind(
    about="cache",
    noun="a cache",
    problem=Problem,
    definition="C16",
    first="extend",
    told=lambda found: inspect.isclass(found) and hasattr(found, "extend"),
    core=text,
    ask={"extend": reading},
    truth=lambda: DEFINITION,
    mistakes=MISTAKES,
    load=cache,
)
