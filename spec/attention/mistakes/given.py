"""The arguments of a program of steps, which is called like torch's attention function.

A program accepts every option by its most widely used name. An option that is left out has its
neutral value. A backward pass also receives the cotangents.
"""

from collections.abc import Callable
from functools import cache
from inspect import Parameter, Signature
from types import SimpleNamespace
from typing import Any, Self

from spec.attention.options import PARAMETERS
from spec.notation import Array

INPUTS = ("query", "key", "value")
NEUTRAL = {option.spellings[0]: option.neutral for option in PARAMETERS}
TAUGHT = {"dlse": None}  # what a backward pass also receives
EVERY = NEUTRAL | TAUGHT


class Given(SimpleNamespace):
    """The arguments of a call: the arrays, and the options by their widely used names."""

    def __init__(self, query: Array, key: Array, value: Array, **asked: Any) -> None:
        if not asked.keys() <= EVERY.keys():
            raise TypeError(f"there are the options {', '.join(EVERY)}, not {', '.join(asked)}")
        super().__init__(query=query, key=key, value=value, **{**EVERY, **asked})

    def but(self, **changes: Any) -> Self:
        """A copy with `changes`."""
        return type(self)(**{**vars(self), **changes})


def native(run: Callable[..., Any], *first: str) -> Any:
    """`run` with the parameters of torch's `scaled_dot_product_attention`, after other arrays."""
    signature = _signature(*first, *INPUTS)
    names = tuple(signature.parameters)

    def attend(*arguments: Any, **named: Any) -> Any:
        if len(arguments) > len(names):
            raise TypeError(f"there are {len(names)} parameters, and {len(arguments)} arguments")
        bound = dict(**dict(zip(names, arguments, strict=False)), **named)  # each is given once
        return run(*(bound.pop(name) for name in first), Given(**bound))

    attend.__signature__ = signature  # type: ignore[attr-defined]
    return attend


@cache
def _signature(*arrays: str) -> Signature:
    """A signature of some arrays, followed by all options."""
    either = Parameter.POSITIONAL_OR_KEYWORD
    every = NEUTRAL | (TAUGHT if "dout" in arrays else {})
    options = (Parameter(name, either, default=neutral) for name, neutral in every.items())
    return Signature([*(Parameter(name, either) for name in arrays), *options])
