"""Caches, as the engine asks for them."""

import inspect

from spec.attention.conventions import declaring, granted
from spec.cache.definition import DEFINITION
from spec.cache.features import MEANINGS, VOCABULARY
from spec.cache.mistakes import MISTAKES
from spec.cache.notation import Problem
from spec.cache.plug import cache, telling, text
from spec.cache.reading import reading
from spec.cache.simplify import WAYS
from spec.kind import Kind

KIND = Kind(
    about="cache",
    noun="a cache",
    sections={"C": "cache"},
    problem=Problem,
    definition="C16",
    first="extend",
    told=lambda found: inspect.isclass(found) and hasattr(found, "extend"),
    core=text,
    ask={"extend": reading},
    truth=lambda: DEFINITION,
    simplify=WAYS,
    mistakes=MISTAKES,
    load=cache,
    fitted=granted,
    under=declaring,
    telling=telling,
    asked={
        "rollback": "a rollback",
        "fork": "a fork",
        "watched": "a watched call",
        "fewer": "a step of fewer queries than keys",
    },
    compares={
        "extend": ("C17",),
        "rollback": ("C23", "C24", "C26"),
        "fork": ("C28", "C29"),
        "watched": ("C39",),
        "fewer": ("C40",),
    },
    vocabulary=VOCABULARY,
    meanings=MEANINGS,
)
