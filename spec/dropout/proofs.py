"""Theorems about dropout: gradients for any mask, mean and variance over all masks.

The gradients are those of the definition, run on symbols with a mask that is fixed. Mean and
variance are sums over all masks, each with its probability, in symbols.
"""

from itertools import product
from typing import Any

import numpy as np

from spec.dropout import definition
from spec.dropout.notation import Problem
from spec.notation import Array
from spec.proving.formulas import symbols, untrue_gradients
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
    return untrue_gradients((closed.q, closed.k, closed.v), loss, (problem.q, problem.k, problem.v))


def weights() -> tuple[Any, Any]:
    """Three weights times values, c, and the rate p, as symbols."""
    import sympy as sp

    return sp.symbols("c_:3", real=True), sp.Symbol("p", positive=True)


def expected(power: int, kept: Any, dropped: Any = 0) -> Any:
    """E (sum_j x_j c_j)^power over all masks: x_j is `kept` with 1 - p, else `dropped`."""
    import sympy as sp

    c, p = weights()
    total = sp.S.Zero
    for mask in product((0, 1), repeat=3):
        chance = sp.prod([(1 - p) if m else p for m in mask])
        x = sum((kept if m else dropped) * y for m, y in zip(mask, c, strict=True))
        total += chance * x**power
    return total


@proved_at(ROWS, scaled=False)
def the_mean_is_attention(scaled: bool = True) -> Any:
    """E sum_j m_j c_j / (1 - p) = sum_j c_j. The control does not divide."""
    import sympy as sp

    c, p = weights()
    return sp.simplify(expected(1, 1 / (1 - p) if scaled else 1) - sum(c))


@proved_at(ROWS, scaled=False)
def the_variance_is_that_of_single_weights(scaled: bool = True) -> Any:
    """Var sum_j m_j c_j / (1 - p) = p / (1 - p) sum_j c_j^2. The control does not divide."""
    import sympy as sp

    c, p = weights()
    kept = 1 / (1 - p) if scaled else 1
    variance = expected(2, kept) - expected(1, kept) ** 2
    return sp.simplify(variance - p / (1 - p) * sum(x**2 for x in c))


@proved_at("1 row of 3 keys, all 8 masks", fourth=False)
def the_variance_of_a_square_is_known(fourth: bool = True) -> Any:
    """Var x^2 = 2 v^2 + s (1 - 6 s) sum c^4, for `chance.of_squares`. Control: no fourth powers."""
    import sympy as sp

    c, p = weights()
    s, square, quartic = p * (1 - p), expected(2, p, p - 1), expected(4, p, p - 1)
    extra = s * (1 - 6 * s) * sum(y**4 for y in c) if fourth else 0
    return sp.expand(quartic - square**2 - 2 * square**2 - extra)
