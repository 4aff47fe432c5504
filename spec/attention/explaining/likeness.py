"""What a wrong answer looks like: the known mistakes that give the same one.

A mistake explains a failure if, wherever the implementation departs from the
definition, it has the mistake's numbers, and the mistake departs nowhere else.
"""

from collections.abc import Mapping

import numpy as np

from spec.attention import rounding
from spec.attention.mistakes import MISTAKES
from spec.attention.notation import Problem
from spec.attention.plug import implementation as wrapped
from spec.attention.record import Implementation
from spec.comparison import Violation, close
from spec.kind import told
from spec.mistake import Mistake
from spec.notation import Array
from spec.subject import Refused, not_offered


def looks_like(implementation: Implementation, problem: Problem) -> tuple[str, ...]:
    """A line for each known mistake, at most three, that gives the same wrong answer."""
    got = answers(implementation, problem)
    off = {name for name, x in got.items() if not close(x, *rounding.wanted(problem, name))}
    if not off:
        return ()
    return told(MISTAKES, lambda mistake: _explains(mistake, got, off, problem))


def answers(implementation: Implementation, problem: Problem) -> Mapping[str, Array]:
    """What an implementation says: o and, where it has them, dq, dk, dv; nothing if it refuses."""
    try:
        with np.errstate(all="ignore"):
            found = {"o": implementation.forward(problem)}
            if implementation.backward is not not_offered:
                gradients = implementation.backward(problem)
                found |= {f"d{name}": getattr(gradients, name) for name in "qkv"}
    except (Refused, Violation):
        return {}
    return found


def _explains(mistake: Mistake, got: Mapping[str, Array], off: set[str], problem: Problem) -> bool:
    """Whether a mistake departs from the definition as `got` does, and only there.

    It runs in float64, on the same numbers; what rounding does is left to the budget.
    """
    said = answers(wrapped(mistake.target, backend="numpy"), problem.but(dtype="float64"))
    if not off <= said.keys():
        return False
    for name, x in said.items():
        want, budget = rounding.wanted(problem, name)
        right = close(x, want, budget)
        if name in off and (right or not close(got[name], x, budget)):
            return False
        if name not in off and name in got and not right:
            return False
    return True
