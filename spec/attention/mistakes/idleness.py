"""Queries that may attend to nothing, the rows on which a softmax divides zero by zero.

Zero, NaN and the mean of all values are conventions, so long as they are
declared; what depends on which rows are idle, or reads what was forbidden, is not.
"""

import numpy as np

from spec.attention.mistakes.exponentials import forbid, softmax
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import weigh
from spec.notation import Array


def idle(allowed: Array) -> Array:
    """True for a query that may attend to nothing.   (B, H, N, 1)"""
    return np.logical_not(allowed.any(axis=-1, keepdims=True))


@wrong(
    "weigh",
    incident="I01",
    citation="pytorch/pytorch#103749",
    convention=("idle", "nan"),
    where="an idle query",
)
def gives_idle_queries_nan(s: Array, allowed: Array) -> Array:
    """Takes the softmax of a row of -inf, which is 0 / 0."""
    return np.where(idle(allowed), np.nan, weigh(s, allowed)).astype(s.dtype)


@wrong(
    "weigh",
    incident="I01",
    citation="patrick-kidger/equinox#274",
    convention=("idle", "uniform"),
    where="an idle query",
)
def gives_idle_queries_the_mean(s: Array, allowed: Array) -> Array:
    """Forbids with the lowest finite number, so that an idle row is a row of ties."""
    return softmax(forbid(s, allowed, np.finfo(s.dtype).min))


@wrong("weigh", incident="I01", where="an idle query")
def lets_idle_queries_attend(s: Array, allowed: Array) -> Array:
    """Avoids NaN in an idle row by not masking it."""
    return weigh(s, allowed | idle(allowed))


@wrong("weigh", incident="I01", where="an idle query")
def gives_idle_queries_the_first_value(s: Array, allowed: Array) -> Array:
    """Takes the argmax of a row of -inf to be a key like any other."""
    first = np.arange(s.shape[-1]) == 0
    return weigh(s, allowed | (idle(allowed) & first))


@wrong("weigh", incident="I01", where="(a mask or segments or positions) and an idle query")
def lets_idle_queries_see_themselves(s: Array, allowed: Array) -> Array:
    """Unmasks the diagonal of an idle row, so that there is something to divide by."""
    return weigh(s, allowed | (idle(allowed) & (np.eye(*s.shape[-2:]) > 0)))


@wrong("weigh", incident="I01", where="an idle query")
def stumbles_over_leading_idle_queries(s: Array, allowed: Array) -> Array:
    """Skips the idle rows that open a block, and never initialises their results."""
    leading = np.logical_and.accumulate(idle(allowed), axis=-2)
    return np.where(leading, np.nan, weigh(s, allowed)).astype(s.dtype)


def _filled(s: Array, allowed: Array, fill: float) -> Array:
    """Weights where a fill hides keys, and idle queries are looked after."""
    return np.where(idle(allowed), 0, softmax(forbid(s, allowed, fill)))


@wrong("weigh", incident="I11", where="a key no fill of -30000 hides")
def fills_with_minus_thirty_thousand(s: Array, allowed: Array) -> Array:
    """Forbids with what float16 has just room for, where idle queries return zero all the same."""
    return _filled(s, allowed, -3e4)


@wrong("weigh", incident="I11", where="a key no fill of half of the lowest number hides")
def fills_with_half_of_the_lowest_number(s: Array, allowed: Array) -> Array:
    """Forbids with as much as can be taken twice, where idle queries return zero all the same."""
    return _filled(s, allowed, float(np.finfo(s.dtype).min) / 2)


@wrong(
    "weigh", incident="I11", force="should", where="a key no fill of 0.7 of the lowest number hides"
)
def fills_with_seven_tenths_of_the_lowest_number(s: Array, allowed: Array) -> Array:
    """Forbids with what leaves room to add, where idle queries return zero all the same."""
    return _filled(s, allowed, 0.7 * float(np.finfo(s.dtype).min))
