"""How an ordinary attention function is called: parameters matched by their names.

The spelling is that of torch's `scaled_dot_product_attention`, with the short
forms that people use. A parameter that is missing is a kind of problem that is
not offered; one that is required and unknown makes the function no target.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spec.attention.notation import Problem
from spec.attention.options import OPTIONS, PARAMETERS
from spec.backends.calling import (
    Parameters,
    by_place,
    matched,
    parameters_of,
    required,
    spelled,
    unused,
)
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
    defaults: what options say that are not passed.
    unused: the parameters that no call passes.
    """

    arrays: tuple[str | None, ...]
    options: Mapping[str, str]
    required: frozenset[str] = frozenset()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    unused: tuple[str, ...] = ()

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of problem that can be put to the function at all."""
        taken = {p for p in PARAMETERS if p.told or p.name in self.options}
        return frozenset(o.capability for o in OPTIONS if taken.issuperset(o.parameters))

    def keywords(self, problem: Problem, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """The options that `problem` asks for; `arrays` by name as the function is to see them."""
        found = {p.name: p.neutral for p in PARAMETERS if p.name in self.required}
        for p in PARAMETERS:
            if p.given(problem) and not (p.told and p.name not in self.options):
                value = arrays[p.name] if p.axes else p.value(problem)
                found[p.name] = p.put(value, self.defaults.get(p.name))
        return {self.options[name]: value for name, value in found.items()}

    def arranged(self, arrays: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arrays as positional and as named arguments."""
        pairs = list(zip(self.arrays, arrays, strict=True))
        return [x for name, x in pairs if name is None], {n: x for n, x in pairs if n is not None}


def signature_of(function: Callable[..., Any], roles: Sequence[str] = ("q", "k", "v")) -> Signature:
    """How to call `function` with arrays for `roles`.

    Raises Unsuitable: too few parameters, or one that is required and unknown.
    """
    parameters = parameters_of(function)
    name = name_of(function)
    arrays, taken = _arrays(parameters, roles, name)
    left = {n: p for n, p in parameters.items() if n not in taken}
    usual = {p.name: p.spellings for p in PARAMETERS}
    options = matched(name, left, usual)
    demanded = frozenset(ours for ours, n in options.items() if required(left[n]))
    defaults = {ours: left[n].default for ours, n in options.items()}
    alone = unused(function, left, options.values())
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        options = {ours: spellings[0] for ours, spellings in usual.items()} | options
    return Signature(arrays, options, demanded, defaults, alone)


def _arrays(
    parameters: Parameters, roles: Sequence[str], name: str
) -> tuple[tuple[str | None, ...], set[str]]:
    """The parameter for each role, and all the names that this takes up."""
    named = [spelled(SPELLINGS[role], parameters) for role in roles]
    first = by_place(parameters, len(roles))
    if None not in named and named != first:
        return tuple(named), {n for n in named if n is not None}
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())
    if len(first) < len(roles) and not variadic:
        raise Unsuitable(
            f"{name} has {len(first)} positional parameter{'s' * (len(first) != 1)}; "
            f"an attention function takes at least {len(roles)}"
        )
    return (None,) * len(roles), set(first)
