"""Theorems about the definition of the feed-forward network, run on symbols.

Inputs are positive symbols, and the first weights and biases of a unit are positive
symbols too, or negative ones: so SymPy knows which gates are open. Each theorem holds for
all such numbers at the sizes that it states; a pattern of gates is a region in which the
network is smooth, and the closed forms read the same in every region.
"""

import numpy as np

from spec.feed_forward import definition
from spec.feed_forward.notation import Problem
from spec.notation import Array
from spec.proving.formulas import residual, symbols, untrue_gradients
from spec.proving.theorem import proved_at

SIZES = "2 positions of width 2, 3 units, one of them shut"


def plain(name: str, *shape: int, **known: bool) -> Array:
    """Symbols in a plain array: here the maximum is one, not a shift (`spec.proving.formulas`)."""
    return np.asarray(symbols(name, *shape, **known))


def signed(name: str, *shape: int) -> Array:
    """The first weights or biases: positive for two units, negative for the last."""
    units = (
        plain(name + "+", *shape, 2, positive=True),
        plain(name + "-", *shape, 1, negative=True),
    )
    return np.concatenate(units, axis=-1)


def symbolic() -> Problem:
    """Two positions in symbols; the last unit is shut at both."""
    return Problem(
        x=plain("x", 1, 2, 2, positive=True),
        W1=signed("W", 2),
        b1=signed("b"),
        W2=plain("V", 3, 2),
        b2=plain("c", 2),
        dy=plain("g", 1, 2, 2),
    )


@proved_at(SIZES, gated=False)
def the_gradients_are_the_derivatives(gated: bool = True) -> Array:
    """All five closed forms are derivatives of <dy, y>. The control opens every gate."""
    problem = symbolic()
    loss = (problem.dy * definition.feed_forward(problem)).sum()
    opened = problem.but(W1=abs(problem.W1), b1=abs(problem.b1))
    closed = definition.gradients(problem if gated else opened)
    return untrue_gradients(closed, loss, [getattr(problem, name) for name in closed._fields])


@proved_at(SIZES, biased=True)
def the_network_is_homogeneous(biased: bool = False) -> Array:
    """F(c x) = c F(x) for c > 0 and no biases. The control keeps the second bias."""
    import sympy as sp

    c = sp.Symbol("scale", positive=True)
    problem = symbolic()
    problem = problem.but(b1=problem.b1 * 0)
    problem = problem if biased else problem.but(b2=problem.b2 * 0)
    scaled = definition.feed_forward(problem.but(x=c * problem.x))
    return residual(scaled, c * definition.feed_forward(problem))


@proved_at(SIZES, biased=True)
def the_output_is_linear_in_W2(biased: bool = False) -> Array:
    """y(A + C) = y(A) + y(C) for b2 = 0. The control counts the bias twice."""
    problem = symbolic()
    problem = problem if biased else problem.but(b2=problem.b2 * 0)
    C = plain("U", *problem.W2.shape)
    whole, first, second = (
        definition.feed_forward(problem.but(W2=W2)) for W2 in (problem.W2 + C, problem.W2, C)
    )
    return residual(whole, first + second)


@proved_at(SIZES, biased=False)
def gradients_of_a_unit_balance(biased: bool = True) -> Array:
    """<W1, dW1> + b1 db1 = <W2, dW2>, unit by unit. The control leaves the bias out."""
    problem = symbolic()
    d = definition.gradients(problem)
    before = (problem.W1 * d.W1).sum(axis=0) + (problem.b1 * d.b1 if biased else 0)
    return residual(before, (problem.W2 * d.W2).sum(axis=1))
