"""Conventions recognised: a wrong answer that another, undeclared choice would make right.

Each choice other than the declared one is tried on a small problem that tells
the choices apart. The line that comes of it says what to declare, if it is meant.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from spec.attention import rounding
from spec.attention.notation import CONVENTIONS, Problem
from spec.attention.options import kinds_of
from spec.attention.plug.conventions import fitted, under
from spec.attention.plug.trials import core, square
from spec.attention.record import Implementation
from spec.comparison import Violation
from spec.entries import eighths
from spec.kind import Guarded
from spec.subject import Refused


def recognised(
    raw: Implementation, dtype: str, declared: Mapping[str, str], guard: Guarded
) -> Mapping[str, str]:
    """Conventions that `raw` seems to follow, beyond what it and its caller declare."""

    def right(choices: Mapping[str, str], problem: Problem) -> bool:
        record = guard(under(raw, choices))
        return _right(record, fitted(record, problem), choices)

    chosen = {**raw.chosen, **declared}
    mine = under(raw, chosen)
    found: dict[str, str] = {}
    for name, problems in telling(dtype).items():
        for problem in problems:
            known = {**chosen, **found}  # who is told one may need no other
            if not kinds_of(fitted(mine, problem)) <= mine.answers or right(known, problem):
                continue
            for choice in CONVENTIONS[name]:
                if choice != chosen[name] and right({**known, name: choice}, problem):
                    found[name] = choice
    return found


def telling(dtype: str) -> Mapping[str, tuple[Problem, ...]]:
    """For each convention, problems on which its choices differ, and no others'."""
    plain = square(dtype)
    half = np.tri(4, k=2, dtype=bool)
    half[:, 0], half[0, 1] = False, True  # no row and no opposite of a row is empty
    idle = np.tri(4, k=1, dtype=bool)
    idle[2] = False
    return {
        "mask means": (plain.but(mask=half),),
        "grouping": (square(dtype, H=6, G=2),),
        "causal": (core(dtype, N=3).but(causal=True),),
        "idle": (plain.but(mask=idle),),
        "idle bias": (plain.but(mask=np.where(idle, eighths(4, 4), -np.inf)),),
        "causality": (plain,),
        "lengths": (core(dtype),),
    }


def _right(implementation: Implementation, problem: Problem, chosen: Mapping[str, str]) -> bool:
    """Whether the output is the definition's."""
    problem = problem.but(corner=chosen["causal"])
    try:
        with np.errstate(all="ignore"):
            out = implementation.forward(problem)
    except (Refused, Violation):
        return False
    error = np.abs(out - rounding.reference(problem).o)
    return bool((error <= rounding.of_output(problem)).all())
