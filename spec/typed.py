"""Records from a file or another process, checked against the types of their fields.

Python stores annotations and never checks them. A record that is made from somebody else's data is
checked once, before it is used.
"""

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
PLAIN = (bool, int, float, str)


class Misfit(ValueError):
    """The data have another form than expected; the message says which, in one line."""


def typed(record: T) -> T:
    """The record itself. Raises Misfit if a field has another type, also in records inside it."""
    kind: Any = type(record)
    for name, hint in _hints(kind).items():
        if not fits(hint, getattr(record, name)):
            raise Misfit(f"{name} of a {type(record).__name__} is of another type")
    return record


def fits(hint: Any, x: Any) -> bool:
    """Whether a value has a type, as annotations write it. An integer is a float, too.

    Raises Misfit if a record inside it has a field of another type.
    """
    if hint in PLAIN:
        return type(x) is hint or (hint is float and type(x) is int)
    origin, inside = _parts(hint)
    if origin in (Union, types.UnionType):
        return any(fits(one, x) for one in inside)
    if origin is Literal:
        return any(type(x) is type(word) and x == word for word in inside)
    if origin is tuple:
        return isinstance(x, tuple) and _each_fits(inside, x)
    if origin is Mapping:
        key, value = inside
        return isinstance(x, Mapping) and all(fits(key, n) and fits(value, y) for n, y in x.items())
    if is_dataclass(x):
        return (hint is Any or isinstance(x, hint)) and typed(x) is x
    return hint is Any or isinstance(x, origin or hint)


def _each_fits(inside: tuple[Any, ...], x: tuple[Any, ...]) -> bool:
    """Whether a tuple has the types that its annotation lists, or any number of one type."""
    if inside[1:] == (...,):
        return all(fits(inside[0], one) for one in x)
    return len(inside) == len(x) and all(map(fits, inside, x))


@cache
def _parts(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    return get_origin(hint), get_args(hint)


@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}
