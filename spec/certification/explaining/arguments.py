"""The arguments of a call, one by one: a parameter may stand for several, or for none."""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

Given = Mapping[str, Any]  # arguments by parameter, as `inspect` binds them


def each(
    signature: inspect.Signature, given: Given
) -> Iterator[tuple[str, inspect.Parameter, Any]]:
    """Yield the name, the parameter and the value of each argument."""
    for name, parameter in signature.parameters.items():
        if name not in given:
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            yield from ((word, parameter, x) for word, x in given[name].items())
        elif parameter.kind is parameter.VAR_POSITIONAL:
            yield from ((f"{name}_{place}", parameter, x) for place, x in enumerate(given[name]))
        else:
            yield name, parameter, given[name]


def exchanged(signature: inspect.Signature, given: Given, others: Given) -> dict[str, Any]:
    """The arguments with others in the place of those that have these names."""
    found: dict[str, Any] = {}
    for name, x in given.items():
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            found[name] = {word: others.get(word, y) for word, y in x.items()}
        elif kind is inspect.Parameter.VAR_POSITIONAL:
            found[name] = tuple(others.get(f"{name}_{i}", y) for i, y in enumerate(x))
        else:
            found[name] = others.get(name, x)
    return found
