"""The parameters of a layer as its attributes, by their paths.

    "W_q"             layer.W_q
    "attention.W_q"   layer.attention.W_q, or layer.attention["W_q"] of a dictionary
    "heads.*.W_q"     [head.W_q for head in layer.heads], of a list of objects

A list or tuple of arrays stays one. After a change inside an attribute, the attribute is set to
itself, so that a recording of the calls (`spec.certification.explaining.tape`) contains it.
"""

from collections.abc import MutableMapping
from typing import Any

EACH = "*"  # in a path: of each object of a list


def at(owner: Any, path: str) -> Any:
    """The value at a path; None if there is none."""
    first, _, rest = path.partition(".")
    if first == EACH:
        found = [at(each, rest) for each in owner]
        return None if any(x is None for x in found) else found
    step = owner.get(first) if isinstance(owner, MutableMapping) else getattr(owner, first, None)
    return at(step, rest) if rest and step is not None else step


def put(owner: Any, path: str, x: Any) -> None:
    """Put an array there, in pieces where there is a list of them."""
    first, _, rest = path.partition(".")
    if first == EACH:
        for each, part in zip(owner, x, strict=True):
            put(each, rest, part)
        return
    old = at(owner, first)
    new = type(old)(x) if isinstance(old, list | tuple) else x
    if rest:
        put(old, rest, x)
        new = old
    if isinstance(owner, MutableMapping):
        owner[first] = new
    else:
        setattr(owner, first, new)
