"""Caches, as the engine asks for them."""

import inspect

from spec.cache.definition import DEFINITION
from spec.cache.mistakes import MISTAKES
from spec.cache.notation import Problem
from spec.cache.plug import cache, text
from spec.cache.reading import reading
from spec.kind import Kind

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
    compares={"extend": ("C16", "C17")},
)
