"""How an ordinary attention function is called: parameters matched by their names.

The spelling is that of torch's `scaled_dot_product_attention`, with the short
forms that people use. A parameter that is missing is a kind of problem that is
not offered; one that is required and unknown makes the function no target.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from spec.attention.libraries import QUERIES_FIRST
from spec.attention.notation import Problem
from spec.attention.options import ARRAYS, MASK, OPTIONS, PARAMETERS, SEGMENTS, Capability
from spec.attention.parameter import Parameter
from spec.attention.plug.packing import PACKING
from spec.attention.plug.paging import PAGING
from spec.attention.plug.serving import carried_of
from spec.attention.plug.spelling import Spelling
from spec.attention.plug.untested import ADVICE, OF_BACKWARD
from spec.attention.plug.untold import LACKS
from spec.attention.texts import BOTH
from spec.backends.calling import (
    Parameters,
    by_place,
    matched,
    parameters_of,
    required,
    required_and_unknown,
    spelled,
    unused,
)
from spec.backends.library import Unsuitable, name_of
from spec.backends.results import words
from spec.comparison import Violation
from spec.notation import Array
from spec.subject import Refused

SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "dout": ("dout", "grad", "grad_output", "do"),
    "q": ("query", "q"),
    "k": ("k_cache", "key_cache", "key", "k"),  # beside a cache k and v are what is to be added
    "v": ("v_cache", "value_cache", "value", "v"),
}
# Parameters that ask for the log-sum-exp beside the output: whether it comes as (B, N, H).
RETURNING: Mapping[str, bool] = {
    "return_lse": False,
    "return_softmax_lse": False,
    "return_attn_probs": False,  # flash-attn: the output, the log-sum-exp and what is for tests
    "return_residual": True,  # jax.nn
}
TAUGHT = ("dlse", "grad_lse")  # what a backward pass calls the cotangent of the log-sum-exp
TOLD = frozenset(parameter for parameter in PARAMETERS if parameter.told)


@dataclass(frozen=True)
class Signature:
    """The arguments of a function: arrays in order or by name, and the options it takes.

    arrays: the parameter for each array, None for one passed by position.
    options: our name of an option -> the function's name of it; added: that of a mask of numbers,
    where it has one for them alone.
    required: the options that must be passed even when they are not asked for.
    defaults: what options say that are not passed.
    unused: the parameters that no call passes. returning: the one by which it can be asked for the
    log-sum-exp as well; asking: the same, where it is. taught: that of its cotangent, backward.
    carried: our names of the arguments that give the positions of tokens, and its own; these make
    it a function that packs, or one with a cache. spelling: of which library, if that is declared.
    """

    arrays: tuple[str | None, ...]
    options: Mapping[str, str]
    required: frozenset[str] = frozenset()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    added: str | None = None
    returning: str | None = None
    asking: str | None = None
    taught: str | None = None
    carried: Mapping[str, str] = field(default_factory=dict)
    spelling: Spelling | None = None

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of problem that can be put to the function at all."""
        taken = {p for p in PARAMETERS if p in self.silent or p.name in self.options}
        known = taken | ({MASK} if self.added else set())
        found = (o.capability for o in OPTIONS if known.issuperset(o.parameters))
        return frozenset(found) - (set() if MASK in taken else {Capability.MASK}) - self._untold

    @cached_property
    def silent(self) -> frozenset[Parameter]:
        """Options that follow from arrays, from their layout, or from the segments of queries."""
        mine, theirs = (self.options.get(p.name) for p in SEGMENTS)
        alone = SEGMENTS[1:] if mine == BOTH and theirs is None else ()
        return TOLD.union(SEGMENTS if self.carried else alone)

    @property
    def _untold(self) -> set[str]:
        """The kinds of problem that there is a parameter for, and no way to say."""
        found = {lack for name in self.options.values() for lack in LACKS.get(name, ())}
        return found - ({Capability.BIAS} if self.added else set())

    def keywords(self, problem: Problem, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """The options that are asked for; `arrays` by name as the function is to see them.

        And the arguments that give the positions of tokens. Raises Refused: it has no such option.
        """
        demanded = [(p, self.options[p.name]) for p in PARAMETERS if p.name in self.required]
        found = {
            name: None if p.axes or name in p.own else self._written(p, problem, name)
            for p, name in demanded
        }
        if self.added and "added" in self.required:
            found[self.added] = None
        if self.asking:
            found[self.asking] = True
        if self.taught and "dlse" in arrays:
            found[self.taught] = arrays["dlse"]
        found |= {name: arrays[ours] for ours, name in self.carried.items() if ours in arrays}
        for p in PARAMETERS:
            if p.given(problem) and (p not in self.silent or p.name in self.options):
                name = self._called(p, problem)
                found[name] = arrays[p.name] if p.axes else self._written(p, problem, name)
        return found

    def whole(self, name: str, problem: Problem) -> Array:
        """An array of integers, or the argument that replaces it. Raises Refused."""
        own = self.renamed(name, problem)
        return getattr(problem, name).astype(np.int32) if own is None else own

    def renamed(self, name: str, problem: Problem) -> Array | None:
        """An array as a parameter takes it whose name means something else. Raises Refused."""
        (parameter,) = (p for p in ARRAYS if p.name == name)
        own = parameter.own.get(self._called(parameter, problem))
        return None if own is None else np.asarray(own(parameter.value(problem), problem))

    def _written(self, parameter: Parameter, problem: Problem, name: str) -> Any:
        """A value as the function has it that calls it by this name."""
        default = self.defaults.get(parameter.name)
        if self.spelling is not None:
            return self.spelling.handed(parameter, problem, name, default)
        return parameter.handed(parameter.value(problem), problem, name, default)

    def given(self, problem: Problem) -> list[str]:
        """The arrays that are passed in addition to q, k and v."""
        return [p.name for p in ARRAYS if p.given(problem) and p not in self.silent]

    def told(self, lying: Mapping[str, Any]) -> dict[str, Any]:
        """Of what there is to say of where tokens lie, what the function wants to hear."""
        found = {name: x for name, x in lying.items() if name in self.carried}
        if "cache_seqlens" in found and "cu_seqlens_k" not in self.required:
            found.pop("cu_seqlens_k", None)  # lengths are said once
        return found

    @property
    def turned(self) -> bool:
        """Whether a log-sum-exp that it can be asked for comes as (B, N, H)."""
        said = self.spelling and self.spelling.says.get("lse-axes")
        if self.returning is None or said:
            return self.returning is not None and said == QUERIES_FIRST
        return RETURNING[self.returning]

    def wanted(self, result: Any) -> Any:
        """The relevant part of a result: all of it, or the log-sum-exp after the output.

        Raises Violation: there is none.
        """
        if self.asking is None:
            return result
        if not isinstance(result, tuple | list) or len(result) < 2:
            raise Violation(f"got {words(result)}, want the output and the log-sum-exp")
        return result[1]

    def _called(self, parameter: Parameter, problem: Problem) -> str:
        """The function's name of a parameter, as it has it for this problem."""
        numbers = problem.mask is not None and problem.mask.dtype != bool
        own = self.added if parameter.added and numbers else None
        if own is None and parameter.name not in self.options:
            raise Refused(f"{parameter.noun} is of numbers, and this one of truth values")
        return own or self.options[parameter.name]

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
    advice = (
        ADVICE if "dout" in roles else {**dict.fromkeys(SPELLINGS["dout"], OF_BACKWARD), **ADVICE}
    )
    options = matched(
        name, _of_values(left), usual | {"added": MASK.added, **PACKING, **PAGING}, advice
    )
    demanded = frozenset(ours for ours, n in options.items() if required(left[n]))
    defaults = {ours: left[n].default for ours, n in options.items()}
    returning = spelled([*RETURNING], left)
    taught = spelled(TAUGHT, left) if "dout" in roles else None
    added, carried = options.pop("added", None), carried_of(name, options)
    passed = (*options.values(), *carried.values(), *filter(None, (added, returning, taught)))
    alone = unused(function, left, passed)
    if others := [x for x in alone if required(left[x])]:
        raise Unsuitable(required_and_unknown(name, others, advice))
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        options = {ours: spellings[0] for ours, spellings in usual.items()} | options
    return Signature(
        arrays, options, demanded, defaults, alone, added, returning, taught=taught, carried=carried
    )


def _of_values(parameters: Parameters) -> Parameters:
    """Those that take arrays or numbers: the default of others is a word, as in mask="causal"."""
    return {n: p for n, p in parameters.items() if not isinstance(p.default, str)}


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


def by_name(arrays: Mapping[str, Any], name: str) -> Any:
    """An array in a mapping by the names that parameters have; None where it is not there."""
    spellings = {**SPELLINGS, **{p.name: (*p.spellings, *p.added) for p in PARAMETERS}}[name]
    return next((arrays[x] for x in (name, *spellings) if x in arrays), None)
