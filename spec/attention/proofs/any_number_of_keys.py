"""Theorems about one query and any number of keys.

A sum over the keys stays a sum, so nothing is assumed about their number. Nor about
widths: a score is one number s_j whatever the width of q and k, and the loss sees value
j as one number g_j = <dout, v_j>. Nor, for the loss, about how many queries there are,
since it is a sum over them.

    a_j = exp(s_j) / sum_j exp(s_j)          L = <dout, o> = sum_j a_j g_j

A gradient is proved in any direction h at once: x is a gradient if the derivative
of L along h is <x, h> for every h. A direction of keys moves score j by scale <q, h_j>,
one of the query moves it by scale <h, k_j>.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spec.proving.algebra import derivative, key, numbers, numerator, over_keys, per_key
from spec.proving.theorem import proved

if TYPE_CHECKING:
    from sympy import Expr


def power(s: Expr) -> Expr:
    """exp(s)."""
    import sympy as sp

    return sp.exp(s)


def mean(x: Expr, s: Expr) -> Expr:
    """sum_j a_j x_j, the mean under the softmax of s."""
    return over_keys(power(s) * x) / over_keys(power(s))


def softmax(s: Expr) -> Expr:
    """a_j."""
    return power(s) / over_keys(power(s))


def score_gradient(s: Expr, g: Expr, row_term: int = 1) -> Expr:
    """ds_j = a_j (g_j - sum_j a_j g_j), the closed form of the definition."""
    return softmax(s) * (g - row_term * mean(g, s))


@proved("any number of keys", dropped=1)
def rows_sum_to_one(dropped: int = 0) -> Expr:
    """sum_j a_j = 1. The control forgets a part of the normaliser."""
    (s,) = per_key("s")
    return numerator(over_keys(power(s)) / (over_keys(power(s)) - dropped) - 1)


@proved("any number of keys", exponent=1)
def scores_have_no_origin(exponent: int = 0) -> Expr:
    """softmax(s + c) = softmax(s), each entry. The control shifts key j by c j."""
    (s,), (c,) = per_key("s"), numbers("c")
    return numerator(softmax(s + c * key() ** exponent) - softmax(s))


@proved("any number of keys", exponent=1)
def log_sum_exp_moves_with_the_scores(exponent: int = 0) -> Expr:
    """lse(s + c) = lse(s) + c, as exp of both sides. The control shifts key j by c j."""
    (s,), (c,) = per_key("s"), numbers("c")
    return numerator(over_keys(power(s + c * key() ** exponent)) - power(c) * over_keys(power(s)))


@proved("any number of keys", exponent=1)
def ratios_of_weights_are_differences_of_scores(exponent: int = 0) -> Expr:
    """log a_j - log a_l = s_j - s_l, as a_j exp(s_l) = a_l exp(s_j). The control: a_j^2."""
    (s,), at_l = per_key("s"), {key(): key("l")}
    a = softmax(s)
    return numerator(a ** (1 + exponent) * power(s.subs(at_l)) - a.subs(at_l) * power(s))


@proved("any number of keys", row_term=0)
def the_jacobian_is_symmetric_and_positive(row_term: int = 1) -> Expr:
    """x^T (diag(a) - a a^T) x = sum_jl a_j a_l (x_j - x_l)^2 / 2. The control: diag(a)."""
    (s, x), at_l = per_key("s x"), {key(): key("l")}
    pair = power(s) * power(s.subs(at_l)) * (x - x.subs(at_l)) ** 2 / 2
    pairs = over_keys(over_keys(pair, "j"), "l") / over_keys(power(s)) ** 2
    return numerator(over_keys(x * score_gradient(s, x, row_term)) - pairs)


@proved("any number of keys, any loss", row_term=0)
def the_gradient_of_softmax(row_term: int = 1) -> Expr:
    """dL = <ds, h> with ds = a * (g - <a, g>), in every direction h. The control: a * g.

    With scale <h, k_j> in the place of h_j that is dq = scale sum_j ds_j k_j, and with
    scale <q, h_j>, one for every key, dk_j = scale ds_j q.
    """
    (s, g, h), (t,) = per_key("s g h"), numbers("t")
    along = derivative(mean(g, s + t * h), t)
    return numerator(along - over_keys(score_gradient(s, g, row_term) * h))


@proved("any number of keys, any loss", row_term=0)
def score_gradients_sum_to_zero(row_term: int = 1) -> Expr:
    """sum_j ds_j = 0, hence sum_j db_j = 0 for a bias. The control: ds = a * g."""
    s, g = per_key("s g")
    return numerator(over_keys(score_gradient(s, g, row_term)))


@proved("any number of keys, any widths", exponent=1)
def keys_have_no_origin(exponent: int = 0) -> Expr:
    """o(k + c) = o(k): every score moves by scale <q, c>. The control moves key j by c j.

    x stands for <q, c>, and g_j for a column of the values.
    """
    (s, g), (scale, x) = per_key("s g"), numbers("scale x")
    return numerator(mean(g, s + scale * x * key() ** exponent) - mean(g, s))


@proved("any number of keys, any widths, a loss that adds over queries", exponent=1)
def key_gradients_sum_to_zero(exponent: int = 0) -> Expr:
    """sum_j dk_j = 0: L does not change along c, by which all keys move together.

    The derivative along it is <c, sum_j dk_j>, whatever c. The control moves key j by c j.
    """
    (s, g), (t, scale, x) = per_key("s g"), numbers("t scale x")
    return numerator(derivative(mean(g, s + t * scale * x * key() ** exponent), t))


@proved("any number of keys, any widths, one query at a time", row_term=0)
def gradients_have_no_origin_either(row_term: int = 1) -> Expr:
    """dq(k + c) = dq(k): a score gradient does not feel the shift, and sums to zero.

    x_j stands for <k_j, h>, y for <c, h>, z for <q, c>. The control forgets the row term.
    """
    (s, g, x), (scale, y, z) = per_key("s g x"), numbers("scale y z")
    moved = score_gradient(s + scale * z, g, row_term) * (x + y)
    return numerator(over_keys(moved) - over_keys(score_gradient(s, g, row_term) * x))


@proved("any number of keys, any widths, per live query", exponent=1)
def value_gradients_sum_to_the_cotangents(exponent: int = 0) -> Expr:
    """sum_j dv_j = dout: a shift of all values by c is one of o by c.

    x stands for <dout, c>. The control shifts value j by c j.
    """
    (s, g), (t, x) = per_key("s g"), numbers("t x")
    return numerator(derivative(mean(g + t * x * key() ** exponent, s), t) - x)
