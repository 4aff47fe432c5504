"""Problems of attention without rounding."""

from __future__ import annotations

from spec.attention.notation import Problem
from spec.proving.exact import fractions


def exact(problem: Problem) -> Problem:
    """The same problem in fractions, its scores read in base 2.

    q, k, the scale and a mask have to make integer scores. A mask may stay in floats,
    and the scale has to be given, since most square roots are not rational.
    """
    arrays = {name: getattr(problem, name) for name in ("q", "k", "v", "dout")}
    return problem.but(**{name: fractions(array) for name, array in arrays.items()})
