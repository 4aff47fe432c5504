"""How an ordinary attention function is called: parameters matched by their names.

The spelling is that of torch's `scaled_dot_product_attention`, with the short
forms that people use. A parameter that is missing is a kind of problem that is
not offered; one that is required and unknown makes the function no target.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spec.attention.notation import Problem
from spec.attention.options import OPTIONS, PARAMETERS
from spec.backends.library import Unsuitable, name_of

SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "dout": ("dout", "grad", "grad_output", "do"),
    "q": ("query", "q"),
    "k": ("key", "k"),
    "v": ("value", "v"),
}


@dataclass(frozen=True)
class Signature:
    """What a function is called with: arrays in order or by name, and the options it takes.

    arrays: the parameter for each array, None for one passed by position.
    options: our name of an option -> the function's name of it.
    required: the options that must be passed even when they are not asked for.
    """

    arrays: tuple[str | None, ...]
    options: Mapping[str, str]
    required: frozenset[str] = frozenset()

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of problem that can be put to the function at all."""
        taken = {p for p in PARAMETERS if p.told or p.name in self.options}
        return frozenset(o.capability for o in OPTIONS if taken.issuperset(o.parameters))

    def keywords(self, problem: Problem, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """The options that `problem` asks for; `arrays` by name as the function is to see them."""
        found = {p.name: p.neutral for p in PARAMETERS if p.name in self.required}
        for p in PARAMETERS:
            if p.asked(problem) and not (p.told and p.name not in self.options):
                found[p.name] = arrays[p.name] if p.axes else p.value(problem)
        return {self.options[name]: value for name, value in found.items()}

    def arranged(self, arrays: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arrays as positional and as named arguments."""
        pairs = list(zip(self.arrays, arrays, strict=True))
        return [x for name, x in pairs if name is None], {n: x for n, x in pairs if n is not None}


def signature_of(function: Callable[..., Any], roles: Sequence[str] = ("q", "k", "v")) -> Signature:
    """How to call `function` with arrays for `roles`.

    Raises Unsuitable: too few parameters, or one that is required and unknown.
    """
    parameters = _parameters(function)
    name = name_of(function)
    arrays, taken = _arrays(parameters, roles, name)
    options: dict[str, str] = {}
    required: set[str] = set()
    for ours in PARAMETERS:
        for spelling in ours.spellings:
            if spelling in parameters and spelling not in taken:
                options.setdefault(ours.name, spelling)
                if _is_required(parameters[spelling]):
                    required.add(ours.name)
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        options = {ours.name: ours.spellings[0] for ours in PARAMETERS} | options
    for other, parameter in parameters.items():
        if _is_required(parameter) and other not in taken and other not in options.values():
            raise Unsuitable(f"{name} requires a parameter {other!r}, which no problem has")
    return Signature(arrays, options, frozenset(required))


def _arrays(
    parameters: Mapping[str, inspect.Parameter], roles: Sequence[str], name: str
) -> tuple[tuple[str | None, ...], set[str]]:
    """The parameter for each role, and all the names that this takes up."""
    named = [next((n for n in SPELLINGS[role] if n in parameters), None) for role in roles]
    first = [
        n for n, p in parameters.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    first = first[: len(roles)]
    if None not in named and named != first:
        return tuple(named), {n for n in named if n is not None}
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())
    if len(first) < len(roles) and not variadic:
        raise Unsuitable(
            f"{name} has {len(first)} positional parameter{'s' * (len(first) != 1)}; "
            f"an attention function takes at least {len(roles)}"
        )
    return (None,) * len(roles), set(first)


def _is_required(parameter: inspect.Parameter) -> bool:
    variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and not variadic


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (ValueError, TypeError):
        pass
    if isinstance(function, functools.partial):
        inner = dict(_parameters(function.func))
        for bound in [*list(inner)[: len(function.args)], *function.keywords]:
            inner.pop(bound, None)
        return inner
    return _documented(function)


def _documented(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """The parameters that a function written in C tells in the first line of its docstring."""
    line = re.search(rf"{re.escape(name_of(function))}\((.*?)\)", function.__doc__ or "", re.DOTALL)
    if line is None:
        raise Unsuitable(f"{name_of(function)} does not say what parameters it takes")
    parameters: dict[str, inspect.Parameter] = {}
    for part in line[1].split(","):
        text, _, default = part.partition("=")
        name = text.split(":")[0].strip(" *\n")
        if name.isidentifier():
            parameters[name] = inspect.Parameter(
                name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=default if default else inspect.Parameter.empty,
            )
    return parameters
