"""Theorems about a slope m, and any number of keys.

    a_j = exp(s_j - m d_j) / sum_j exp(s_j - m d_j)

where s_j, d_j and g_j, what value j receives, are per key; where d_j is p - j, p is the place of
the query and j that of the key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spec.attention.proofs.any_number_of_keys import mean, power, score_gradient, softmax
from spec.proving.algebra import derivative, key, numbers, numerator, over_keys, per_key
from spec.proving.theorem import proved

if TYPE_CHECKING:
    from sympy import Expr


@proved("any number of keys", exponent=1)
def weights_fade_with_the_distance(exponent: int = 0) -> Expr:
    """Of equal scores, a_j exp(-m d_l) = a_l exp(-m d_j). The control: a_j^2."""
    (d,), (s, m), at_l = per_key("d"), numbers("s m"), {key(): key("l")}
    a = softmax(s - m * d)
    return numerator(a ** (1 + exponent) * power(-m * d.subs(at_l)) - a.subs(at_l) * power(-m * d))


@proved("any number of keys", power_of=2)
def a_slope_has_no_origin(power_of: int = 1) -> Expr:
    """a(p + c; j + c) = a(p; j), each entry. The control has squares of places."""
    (s,), (m, p, c) = per_key("s"), numbers("m p c")

    def weights(shift: Expr | int) -> Expr:
        there = (p + shift) ** power_of - (key() + shift) ** power_of
        return softmax(s - m * there)

    return numerator(weights(c) - weights(0))


@proved("any number of keys", part=0)
def the_place_of_a_query_is_in_the_log_sum_exp_alone(part: int = 1) -> Expr:
    """exp(lse(s - m (p - j))) = exp(-m p) exp(lse(s + m j)). The control leaves m p out."""
    (s,), (m, p) = per_key("s"), numbers("m p")
    near, from_zero = s - m * (p - key()), s + m * key()
    return numerator(over_keys(power(near)) - power(-part * m * p) * over_keys(power(from_zero)))


@proved("any number of keys, any loss", sign=-1)
def the_gradient_of_a_slope(sign: int = 1) -> Expr:
    """dL/dm = -sum_j ds_j d_j. The control loses the sign."""
    (s, g, d), (m, x) = per_key("s g d"), numbers("m x")
    along = derivative(mean(g, s - (m + x) * d), x)
    return numerator(along + sign * over_keys(score_gradient(s - m * d, g) * d))
