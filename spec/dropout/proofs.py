"""Theorems about dropout: gradients for any mask, mean and variance over all masks.

The gradients are those of the definition, run on symbols with a mask that is fixed. Mean and
variance are sums over all masks, each with its probability, in symbols.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from spec.dropout import definition
from spec.dropout.notation import Problem
from spec.notation import Array
from spec.proving.formulas import Formulas, derivatives, residual, symbols
from spec.proving.theorem import proved_at

SIZES = "2 queries, 3 keys, widths 2 and 2, p = 1/3, two weights dropped"
ROWS = "1 row of 3 keys, any weights, values and rate, all 8 masks"
KEPT = np.array([[[[True, False, True], [False, True, True]]]])


def symbolic() -> Problem:
    """A problem in symbols, at a rate that is a fraction."""
    import sympy as sp

    return Problem(
        q=symbols("q", 1, 1, 2, 2),
        k=symbols("k", 1, 1, 3, 2),
        v=symbols("v", 1, 1, 3, 2),
        dout=symbols("g", 1, 1, 2, 2),
        p=sp.Rational(1, 3),
        scale=sp.Symbol("scale", real=True),
    )


@proved_at(SIZES, same=False)
def the_gradients_are_the_derivatives(same: bool = True) -> Array:
    """dq, dk, dv = dL/dq, dL/dk, dL/dv for a mask. The control keeps another weight backward."""
    problem = symbolic()
    loss = (problem.dout * definition.attention(problem, KEPT)).sum()
    closed = definition.gradients(problem, KEPT if same else KEPT[..., ::-1])
    pairs = [(closed.q, problem.q), (closed.k, problem.k), (closed.v, problem.v)]
    found = [residual(dx, derivatives(loss, x.view(Formulas))).ravel() for dx, x in pairs]
    return np.concatenate(found)


def over_masks(scaled: bool) -> tuple[Any, Any, Any]:
    """Mean and mean square of sum_j m_j c_j f over all masks, and the symbols c and p."""
    import sympy as sp

    c, p = sp.symbols("c_:3", real=True), sp.Symbol("p", positive=True)
    f = 1 / (1 - p) if scaled else 1
    mean, square = sp.S.Zero, sp.S.Zero
    for mask in product((0, 1), repeat=3):
        chance = sp.prod([(1 - p) if m else p for m in mask])
        o = sum(m * x * f for m, x in zip(mask, c, strict=True))
        mean, square = mean + chance * o, square + chance * o**2
    return mean, square, (c, p)


@proved_at(ROWS, scaled=False)
def the_mean_is_attention(scaled: bool = True) -> Any:
    """E sum_j m_j c_j / (1 - p) = sum_j c_j. The control does not divide."""
    import sympy as sp

    mean, _, (c, _) = over_masks(scaled)
    return sp.simplify(mean - sum(c))


@proved_at(ROWS, scaled=False)
def the_variance_is_that_of_single_weights(scaled: bool = True) -> Any:
    """Var sum_j m_j c_j / (1 - p) = p / (1 - p) sum_j c_j^2. The control does not divide."""
    import sympy as sp

    mean, square, (c, p) = over_masks(scaled)
    return sp.simplify(square - mean**2 - p / (1 - p) * sum(x**2 for x in c))


@proved_at("1 row of 3 keys, all 8 masks", fourth=False)
def the_variance_of_a_square_is_known(fourth: bool = True) -> Any:
    """Var x^2 = 2 v^2 + s (1 - 6 s) sum c^4, for `chance.of_squares`. Control: no fourth powers."""
    import sympy as sp

    c, p = sp.symbols("c_:3", real=True), sp.Symbol("p", positive=True)
    s, moments = p * (1 - p), [sp.S.Zero, sp.S.Zero]
    for mask in product((0, 1), repeat=3):
        chance = sp.prod([(1 - p) if m else p for m in mask])
        x = sum((m - (1 - p)) * y for m, y in zip(mask, c, strict=True))
        moments = [total + chance * x**power for total, power in zip(moments, (2, 4), strict=True)]
    square, quartic = moments
    extra = s * (1 - 6 * s) * sum(y**4 for y in c) if fourth else 0
    return sp.expand(quartic - square**2 - 2 * square**2 - extra)
