"""Theorems about a cap of any size, and any number of keys.

    cap(t) = c tanh(t / c) = c (exp(2 t / c) - 1) / (exp(2 t / c) + 1)

The hyperbolic tangent is written in exponentials, so that each theorem is one of rational functions
of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spec.attention.proofs.any_number_of_keys import softmax
from spec.proving.algebra import numbers, numerator, per_key
from spec.proving.theorem import proved

if TYPE_CHECKING:
    from sympy import Expr


def bent(t: Expr, c: Expr) -> Expr:
    """tanh(t / c)."""
    import sympy as sp

    e = sp.exp(t / c)
    return (e - 1 / e) / (e + 1 / e)


@proved("any score and soft-cap", more=1)
def a_cap_is_odd(more: int = 0) -> Expr:
    """cap(-t) = -cap(t). The control adds t^2 to it."""
    t, c = numbers("t c")
    return numerator(c * bent(-t, c) + c * bent(t, c) + more * t**2)


@proved("any number of keys", factor=2)
def the_slope_of_a_cap(factor: int = 1) -> Expr:
    """The derivative of c tanh(t / c) is 1 - tanh(t / c)^2. The control is 1 - 2 tanh(t / c)^2."""
    t, c = numbers("t c")
    return numerator((c * bent(t, c)).diff(t) - (1 - factor * bent(t, c) ** 2))


@proved("any number of keys", inside=1)
def a_bias_is_beyond_the_cap(inside: int = 0) -> Expr:
    """softmax(cap(t) + b) = softmax(cap(t)), each entry. The control caps a part of b as well."""
    (t,), (b, c) = per_key("t"), numbers("b c")
    return numerator(softmax(c * bent(t + inside * b, c) + b) - softmax(c * bent(t, c)))
