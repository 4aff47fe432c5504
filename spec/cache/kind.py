"""Caches, as the engine asks for them."""

import inspect

from spec.abilities import Conventions, Functions, Reports, Targets
from spec.attention.conventions import declaring, granted
from spec.cache.definition import DEFINITION
from spec.cache.domain import excluded
from spec.cache.features import MEANINGS, VOCABULARY
from spec.cache.mistakes import MISTAKES
from spec.cache.notation import Problem
from spec.cache.plug import cache, telling, text
from spec.cache.reading import reading
from spec.cache.simplify import WAYS
from spec.kind import Kind

FUNCTIONS = Functions(
    first="extend",
    ask={"extend": reading},
    fitted=granted,
    words={
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
)
KIND = Kind(
    about="cache",
    noun="a cache",
    sections={"C": "cache"},
    problem=Problem,
    definition="C16",
    core=text,
    truth=lambda: DEFINITION,
    simplify=WAYS,
    mistakes=MISTAKES,
    load=cache,
    vocabulary=VOCABULARY,
    meanings=MEANINGS,
    targets=Targets(told=lambda found: inspect.isclass(found) and hasattr(found, "extend")),
    functions=FUNCTIONS,
    conventions=Conventions(under=declaring, telling=telling),
    reports=Reports(excluded=excluded),
)
