"""What a call should have answered: the numbers of the definition, each with its budget.

They are in float64, and compared as a reader's script compares them, so that what is
said here of an answer is what the script will say. Under a declared convention the
problem is translated to what the definition would be asked, and its answer back.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from spec import definition, forbidden, gradients, rounding
from spec.certification.conventions import (
    head_order,
    opposite_mask,
    permuted_mask,
    reordered,
)
from spec.certification.recording import OUTPUTS, Asked
from spec.notation import Array, Problem

Pair = tuple[Array, Array]


def departure(asked: Asked, chosen: Mapping[str, str]) -> str:
    """The name of the first array in an answer that is not what it should be, or nothing."""
    if not asked.arrays:
        return ""
    wanted = expected(asked, chosen)
    wrong = (n for n, x in asked.arrays.items() if n in wanted and not _close(x, *wanted[n]))
    return next(wrong, "")


def expected(asked: Asked, chosen: Mapping[str, str]) -> Mapping[str, Pair]:
    """Each array of the answer by name, with its budget; NaN where it has to be NaN.

    Of idle queries that follow a convention of their own, nothing but the output is known.
    """
    problem = meant(asked.problem, chosen)
    own = chosen["idle"] != "zero" and bool(problem.idle.any())
    if own and (asked.function not in OUTPUTS or not problem.M):
        return {}
    found = by_definition(asked, problem)
    if own:
        found = {name: _idle(pair, problem, chosen["idle"]) for name, pair in found.items()}
    if chosen["grouping"] == "interleaved":
        order = head_order(problem)
        found = {n: (_turned(n, x, order), _turned(n, y, order)) for n, (x, y) in found.items()}
    return {name: (_plain(x), _budget(y)) for name, (x, y) in found.items()}


def meant(problem: Problem, chosen: Mapping[str, str]) -> Problem:
    """The problem as the definition would put it, with numbers only where they are read."""
    if chosen["grouping"] == "interleaved":
        problem = reordered(problem, np.argsort(head_order(problem)))
    if chosen["mask means"] == "forbid":
        problem = opposite_mask(problem)
    if np.isfinite(problem.k).all() and np.isfinite(problem.v).all():
        return problem
    return forbidden.poisoned(problem, 0.0, 0.0)  # 0 times infinity is not zero


def by_definition(asked: Asked, problem: Problem) -> dict[str, Pair]:
    """What the definition says of each array of the answer."""
    right = rounding.reference(problem)
    match asked.function:
        case "forward" | "training" | "call":
            return {"o": _output(problem)}
        case "weights":
            return {"a": (right.weights, rounding.of_weights(problem))}
        case "lse":
            return {"lse": (right.lse, rounding.of_lse(problem))}
        case "bias_gradient":
            return {"dmask": _mask_gradient(problem)}
        case _:
            budget = rounding.of_gradients(problem)
            pairs = ((n, getattr(right.gradients, n), getattr(budget, n)) for n in asked.inputs)
            return {f"d{name}": (want, within) for name, want, within in pairs}


def _output(problem: Problem) -> Pair:
    """The output; where it is rounded once, what lies between the least and the greatest."""
    o, budget = rounding.reference(problem).o, rounding.of_output(problem)
    low, high = rounding.admissible(problem)
    with np.errstate(invalid="ignore"):
        half = (high - low) / 2
        narrower = half < budget
        return np.where(narrower, low + half, o), np.where(narrower, half, budget)


def _mask_gradient(problem: Problem) -> Pair:
    want = rounding.reference(problem).gradients.bias
    budget = rounding.of_gradients(problem).bias
    assert problem.mask is not None
    assert want is not None
    assert budget is not None
    shape = problem.mask.shape
    return gradients.reduced(want, shape), rounding.of_sum(want, budget, shape, problem)


def _idle(pair: Pair, problem: Problem, choice: str) -> Pair:
    """The output with idle queries as they choose: NaN, or the mean of all values."""
    idle = problem.idle[..., None]
    if choice == "nan":
        return np.where(idle, np.nan, pair[0]), pair[1]
    uniform = problem.but(q=np.zeros_like(problem.q), mask=None, causal=False)
    mean, budget = definition.attention(uniform), rounding.of_output(uniform)
    return np.where(idle, mean, pair[0]), np.where(idle, budget, pair[1])


def _turned(name: str, x: Array, order: Array) -> Array:
    """An array with query heads, in the order in which they are put."""
    if name == "dmask":
        return permuted_mask(x, order)
    return x if name in ("dk", "dv") else x[:, order]


def _plain(x: Array) -> Array:
    return np.asarray(x, dtype=np.float64)


def _budget(x: Array) -> Array:
    """None where the answer has to be NaN."""
    return np.where(np.isnan(x), 0.0, _plain(x))


def _close(got: Array, want: Array, within: Array) -> bool:
    with np.errstate(invalid="ignore"):  # of an infinite budget
        return bool(np.isclose(_plain(got), want, rtol=0, atol=within, equal_nan=True).all())
