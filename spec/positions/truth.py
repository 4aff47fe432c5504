"""The definitions as records, their results rounded to the format of the problem.

As for attention (`spec.attention.truth`): a clause that the definition breaks on some
problem says nothing about anyone else there.
"""

from collections.abc import Callable
from typing import Any

from spec.formats import rounded
from spec.notation import DTYPES, Array, Call
from spec.positions.alibi import definition as alibi
from spec.positions.alibi.notation import LinearBias
from spec.positions.rotary import definition as rotary
from spec.positions.rotary.notation import Problem as Queries
from spec.positions.rotary.notation import Rotation
from spec.positions.sinusoidal import definition as sinusoidal
from spec.positions.sinusoidal.notation import Encoding
from spec.subject import Refused


def in_dtype(function: Callable[[Any], Array]) -> Callable[[Any], Array]:
    """The function, its result rounded to the dtype of the problem."""
    return lambda problem: rounded(function(problem), problem.dtype)


def called(function: Callable[[Any], Array]) -> Callable[[Any], Call]:
    """The function as its caller sees it: what is returned has memory of its own."""
    return lambda problem: Call(function(problem), problem.dtype)


def paired(function: Callable[[Queries], Any]) -> Callable[[Queries], Any]:
    """The function, for widths that have pairs. Raises Refused for others."""

    def checked(problem: Queries) -> Any:
        if problem.width % 2:
            raise Refused(f"a width of {problem.width} has a column without a partner")
        return function(problem)

    return checked


def encoding() -> Encoding:
    """Sinusoidal positions by definition."""
    return Encoding(
        "the definition",
        table=in_dtype(sinusoidal.table),
        add=in_dtype(sinusoidal.add),
        backward=in_dtype(sinusoidal.backward),
        call=called(in_dtype(sinusoidal.add)),
        dtypes=DTYPES,
    )


def rotation() -> Rotation:
    """Rotary positions by definition."""
    rotate, backward = (paired(in_dtype(f)) for f in (rotary.rotate, rotary.backward))

    def place(problem: Queries) -> tuple[Array, Array, Array]:
        return rotate(problem), rotate(problem.but(q=problem.k)), problem.v

    return Rotation("the definition", rotate, backward, place, called(rotate), dtypes=DTYPES)


def linear_bias() -> LinearBias:
    """Linear biases by definition, to both sides."""
    return LinearBias(
        "the definition",
        bias=in_dtype(alibi.bias),
        slopes=in_dtype(alibi.slopes),
        call=called(in_dtype(alibi.bias)),
        dtypes=DTYPES,
        conventions={"sides": "both"},
    )
