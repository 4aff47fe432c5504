"""Merging to many digits, correctly rounded: each result is the nearest number of its format.

It computes with the masses exp(lse_i) themselves, which do not overflow in mpmath, and shares no
line with `spec.merging.definition`. The number of digits grows until all results round to the same
numbers (Ziv 1991), as in `oracles.digits` for attention.
"""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

from oracles.nearest import exact, nearest, settled, zeros
from spec.formats import FORMATS
from spec.merging.notation import Gradients, Merging, Problem, State
from spec.notation import DTYPES, Array

Answer = dict[str, Array]  # arrays of mpmath.mpf


def weights(problem: Problem, place: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """Return the weights of both states, and the logarithm of the sum of their masses."""
    one, two = (mpmath.exp(mpmath.mpf(float(x[place]))) for x in (problem.lse_1, problem.lse_2))
    total = one + two
    some = total or mpmath.mpf(1)
    return one / some, two / some, mpmath.log(total) if total else -mpmath.inf


def values(problem: Problem, place: tuple[int, ...]) -> tuple[Array, Array]:
    """Return the outputs of both states, zero where a state has no keys.   two of (E)"""
    found = []
    for o, lse in (problem.one, problem.two):
        found.append(exact(np.where(np.isneginf(lse[place]), 0.0, o[place])))
    return found[0], found[1]


def states(problem: Problem) -> Answer:
    """Return o = w_1 o_1 + w_2 o_2, and lse."""
    o, lse = zeros(problem.o_1.shape), zeros(problem.lse_1.shape)
    for place in np.ndindex(lse.shape):
        w_1, w_2, lse[place] = weights(problem, place)
        o_1, o_2 = values(problem, place)
        o[place] = w_1 * o_1 + w_2 * o_2
    return {"o": o, "lse": lse}


def gradients(problem: Problem) -> Answer:
    """Return do_i = w_i do and dlse_i = w_i (w_j <do, o_i - o_j> + dlse), for j the other state."""
    do_1, do_2 = zeros(problem.o_1.shape), zeros(problem.o_1.shape)
    dlse_1, dlse_2 = zeros(problem.lse_1.shape), zeros(problem.lse_1.shape)
    for place in np.ndindex(dlse_1.shape):
        w_1, w_2, _ = weights(problem, place)
        o_1, o_2 = values(problem, place)
        do, dlse = exact(problem.do[place]), mpmath.mpf(float(problem.dlse[place]))
        x = mpmath.fdot(do, o_1 - o_2) if w_1 and w_2 else mpmath.mpf(0)
        do_1[place], do_2[place] = w_1 * do, w_2 * do
        dlse_1[place], dlse_2[place] = w_1 * (w_2 * x + dlse), w_2 * (dlse - w_1 * x)
    return {"o_1": do_1, "lse_1": dlse_1, "o_2": do_2, "lse_2": dlse_2}


def rounded(answer: Answer, problem: Problem) -> dict[str, Array]:
    """Return every number of a result, rounded once, to the format of its array."""
    found = {}
    for name, x in answer.items():
        to = FORMATS[problem.lse_dtype if "lse" in name else problem.dtype]
        found[name] = np.frompyfunc(nearest, 2, 1)(x, to).astype(np.float64)
    return found


def correctly(evaluate: Callable[[Problem], Answer], problem: Problem) -> dict[str, Array]:
    """Return the result in the formats of the problem, from as many digits as rounding needs."""
    return settled(lambda: rounded(evaluate(problem), problem))


MANY_DIGITS = Merging(
    "many digits",
    forward=lambda problem: State(**correctly(states, problem)),
    backward=lambda problem: Gradients(**correctly(gradients, problem)),
    dtypes=DTYPES,
    origin="oracles.merging_digits:MANY_DIGITS",
)
