"""The expected result of a call: the numbers of the definition, each with its error bound.

They are in float64, and compared as a reader's script compares them, so that the
verdict on an answer here is the verdict of the script. Under a declared convention the
problem is translated to what the definition would be asked, and its answer back.
"""

from collections.abc import Mapping

import numpy as np

from spec.attention import rounding
from spec.attention.explaining.calls import Asked
from spec.attention.moves import of_heads
from spec.attention.notation import Problem
from spec.attention.plug.conventions import head_order, opposite_mask, permuted_mask
from spec.attention.plug.idle_rows import Declared, Pair, finite, of_mask
from spec.comparison import close
from spec.notation import Array


def departure(asked: Asked, chosen: Mapping[str, str]) -> str:
    """The name of the first array in an answer that is not what it should be, or nothing."""
    if not asked.arrays:
        return ""
    wanted = expected(asked, chosen)
    wrong = (n for n, x in asked.arrays.items() if n in wanted and not close(_plain(x), *wanted[n]))
    return next(wrong, "")


def expected(asked: Asked, chosen: Mapping[str, str]) -> Mapping[str, Pair]:
    """Each array of the answer by name, with its budget; NaN, within nothing, where it has to be.

    Left out is what a convention about idle queries leaves open, even in part.
    """
    problem = meant(asked.problem, chosen)
    declared = Declared(problem, chosen)
    if declared.own.any():
        found = _with_idle_rows(asked, declared)
    else:
        found = {name: by_definition(problem, name) for name in asked.names}
    if chosen["grouping"] == "interleaved":
        order = head_order(problem)
        found = {n: (_turned(n, x, order), _turned(n, y, order)) for n, (x, y) in found.items()}
    return {n: (_plain(x), np.where(np.isnan(y), 0.0, _plain(y))) for n, (x, y) in found.items()}


def meant(problem: Problem, chosen: Mapping[str, str]) -> Problem:
    """The problem as the definition would put it, with numbers only where they are read."""
    if chosen["causality"] == "always":
        problem = problem.but(causal=True)
    if chosen["grouping"] == "interleaved":
        problem = of_heads(problem, np.argsort(head_order(problem)))
    if chosen["mask-means"] == "forbid":
        problem = opposite_mask(problem)
    return finite(problem)


def by_definition(problem: Problem, name: str) -> Pair:
    """The values that the definition gives for an array of an answer."""
    if name == "dmask":
        return of_mask(problem, *rounding.wanted(problem, "ds"))
    want, budget = rounding.wanted(problem, name)
    if name != "o":
        return want, budget
    low, high = rounding.admissible(problem)  # what is rounded once lies between these
    with np.errstate(invalid="ignore"):
        half = (high - low) / 2
        narrower = half < budget
        return np.where(narrower, low + half, want), np.where(narrower, half, budget)


def _with_idle_rows(asked: Asked, declared: Declared) -> dict[str, Pair]:
    """The same with idle queries as they choose: NaN, or the mean of all values."""
    if asked.inputs:
        judged = [name for name in asked.inputs if not declared.unjudged(name).any()]
        return {f"d{name}": declared.gradient(name) for name in judged}
    if asked.function == "lse" or not declared.problem.M or (declared.choice == "open").any():
        return {}
    want, within = declared.row(asked.function)
    want = np.where(declared.poisoned[..., None], np.nan, want)
    return dict.fromkeys(asked.names, (want, within))


def _turned(name: str, x: Array, order: Array) -> Array:
    """An array with query heads, in the order in which they are put."""
    if name == "dmask":
        return permuted_mask(x, order)
    return x if name in ("dk", "dv") else x[:, order]


def _plain(x: Array) -> Array:
    return np.asarray(x, dtype=np.float64)
