"""Theorems about biases, for any number of keys, which are summed over symbolically.

One query of one head is followed through W_o. A score is one number s_j, whatever the width
of a head; what an output takes from value j is one number v_j = <w, v_h,j>, for a row w of
W_o,h; what the loss takes from it is one number g_j = <dout, W_o,h v_h,j>. The keys are those
that the query may attend to. Heads and queries are added up, and what holds of each holds of
the sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spec.attention.proofs.any_number_of_keys import mean, softmax
from spec.proving.algebra import derivative, key, numbers, numerator, over_keys, per_key
from spec.proving.theorem import proved

if TYPE_CHECKING:
    from sympy import Expr

PER_HEAD = "any number of keys, any widths, head by head and query by query"


@proved("any number of keys, 1 head or the mean of 2", divisor=1)
def weights_sum_to_one(divisor: int = 2) -> Expr:
    """sum_j (a_1j + a_2j) / 2 = 1; for a_1 = a_2 it is one head's. The control adds heads up."""
    s, r = per_key("s r")
    return numerator(over_keys((softmax(s) + softmax(r)) / divisor) - 1)


@proved(PER_HEAD, exponent=1)
def the_key_bias_does_nothing(exponent: int = 0) -> Expr:
    """y(b_k) = y(0): every score of a query moves by c = <q_i, b_k> / sqrt(D).

    The control has a bias that grows with the key.
    """
    (s, v), (c,) = per_key("s v"), numbers("c")
    return numerator(mean(v, s + c * key() ** exponent) - mean(v, s))


@proved(PER_HEAD, exponent=1)
def the_key_bias_learns_nothing(exponent: int = 0) -> Expr:
    """<db_k, h> = 0 for every h, along which all scores of a query move by x = <q_i, h> / sqrt(D).

    The control has a bias that grows with the key.
    """
    (s, g), (t, x) = per_key("s g"), numbers("t x")
    return numerator(derivative(mean(g, s + t * x * key() ** exponent), t))


@proved(PER_HEAD, exponent=1)
def the_value_bias_passes_through(exponent: int = 0) -> Expr:
    """y(b_v) = y(0) + W_o b_v, an output at a time: c = <w, b_v> for the row w of W_o.

    The control has a bias that grows with the key.
    """
    (s, v), (c,) = per_key("s v"), numbers("c")
    return numerator(mean(v + c * key() ** exponent, s) - mean(v, s) - c)


@proved(PER_HEAD, exponent=1)
def the_value_bias_learns_through_the_output_weights(exponent: int = 0) -> Expr:
    """<db_v, h> = <W_o^T dout, h> for every h, along which all values move; x is <dout, W_o h>.

    With db_o = sum dout this is db_v = W_o^T db_o. The control's bias grows with the key.
    """
    (s, g), (t, x) = per_key("s g"), numbers("t x")
    return numerator(derivative(mean(g + t * x * key() ** exponent, s), t) - x)
