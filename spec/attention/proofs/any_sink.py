"""Theorems about a sink and any number of keys.

    a_j = exp(s_j) / L,    L = exp(t) + sum_j exp(s_j)

where s_j, v_j and what they receive are per key, and t belongs to none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spec.attention.proofs.any_number_of_keys import power
from spec.proving.algebra import derivative, numbers, numerator, over_keys, per_key
from spec.proving.theorem import proved

if TYPE_CHECKING:
    from sympy import Expr


def total(s: Expr, t: Expr) -> Expr:
    """L."""
    return power(t) + over_keys(power(s))


def weight(s: Expr, t: Expr) -> Expr:
    """a_j."""
    return power(s) / total(s, t)


def mean(x: Expr, s: Expr, t: Expr) -> Expr:
    """sum_j a_j x_j, what a query gets of x."""
    return over_keys(power(s) * x) / total(s, t)


@proved("any number of keys", value=1)
def a_sink_is_a_key(value: int = 0) -> Expr:
    """o(t) is that of one more key, whose score is t and whose value is 0. The control: 1."""
    (s, g), (t,) = per_key("s g"), numbers("t")
    more = over_keys(power(s) * g) + power(t) * value
    return numerator(mean(g, s, t) - more / (over_keys(power(s)) + power(t)))


@proved("any number of keys", part=2)
def rows_sum_to_what_the_sink_leaves(part: int = 1) -> Expr:
    """sum_j a_j = 1 - exp(t) / L. The control takes the sink's share twice."""
    (s,), (t,) = per_key("s"), numbers("t")
    return numerator(mean(1, s, t) - (1 - part * power(t) / total(s, t)))


@proved("any number of keys", times=2)
def the_sink_is_in_the_log_sum_exp(times: int = 1) -> Expr:
    """exp(lse(t)) = exp(lse) + exp(t). The control adds the sink twice."""
    (s,), (t,) = per_key("s"), numbers("t")
    return numerator(total(s, t) - (over_keys(power(s)) + times * power(t)))


@proved("any number of keys", moves=0)
def scores_and_sink_have_no_origin(moves: int = 1) -> Expr:
    """a_j(s + c; t + c) = a_j(s; t), each entry. In the control the sink stays where it was."""
    (s,), (t, c) = per_key("s"), numbers("t c")
    return numerator(weight(s + c, t + moves * c) - weight(s, t))


@proved("any number of keys, any loss", factor=0)
def the_gradient_of_a_sink(factor: int = 1) -> Expr:
    """dL/dt = -exp(t) / L sum_j a_j g_j. The control says that there is none."""
    (s, g), (t, x) = per_key("s g"), numbers("t x")
    along = derivative(mean(g, s, t + x), x)
    return numerator(along + factor * power(t) / total(s, t) * mean(g, s, t))


@proved("any number of keys, any loss", factor=0)
def gradients_of_scores_and_sink_sum_to_zero(factor: int = 1) -> Expr:
    """sum_j a_j (g_j - o) - exp(t) / L o = 0. The control leaves the sink out."""
    (s, g), (t,) = per_key("s g"), numbers("t")
    o = mean(g, s, t)
    return numerator(mean(g, s, t) - o * mean(1, s, t) - factor * power(t) / total(s, t) * o)


@proved("any number of keys, any position of the cut", more=1)
def one_part_has_the_sink(more: int = 0) -> Expr:
    """exp(lse) is that of two parts, of which one has the sink. In the control both have it."""
    (s,), (t, rest) = per_key("s"), numbers("t rest")
    whole = total(s, t) + rest  # rest: the sum over the keys of the other part
    return numerator(whole - (total(s, t) + (rest + more * power(t))))
