"""Known bugs of fully masked queries, for which a softmax divides zero by zero.

Zero, NaN and the mean of all values are conventions, as long as they are declared. A result that
depends on which queries are fully masked, or that uses masked keys, is a bug.
"""

import numpy as np

from spec.attention.mistakes.exponentials import forbid, softmax
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import weigh
from spec.notation import Array


def idle(allowed: Array) -> Array:
    """True for a fully masked query.   (B, H, N, 1)"""
    return np.logical_not(allowed.any(axis=-1, keepdims=True))


@wrong(
    "weigh",
    incident="BUG-01",
    citation="pytorch/pytorch#103749",
    convention=("fully-masked", "nan"),
    where="a fully masked query",
)
def gives_idle_queries_nan(s: Array, allowed: Array) -> Array:
    """Returns NaN for a fully masked query: the softmax of a row of -inf is 0 / 0."""
    return np.where(idle(allowed), np.nan, weigh(s, allowed)).astype(s.dtype)


@wrong(
    "weigh",
    incident="BUG-01",
    citation="patrick-kidger/equinox#274",
    convention=("fully-masked", "uniform"),
    where="a fully masked query",
)
def gives_idle_queries_the_mean(s: Array, allowed: Array) -> Array:
    """Masks with the lowest finite number: a fully masked query returns the mean of all values."""
    return softmax(forbid(s, allowed, np.finfo(s.dtype).min))


@wrong("weigh", incident="BUG-01", where="a fully masked query")
def lets_idle_queries_attend(s: Array, allowed: Array) -> Array:
    """Avoids NaN for a fully masked query by removing its mask, so it attends to every key."""
    return weigh(s, allowed | idle(allowed))


@wrong("weigh", incident="BUG-01", where="a fully masked query")
def gives_idle_queries_the_first_value(s: Array, allowed: Array) -> Array:
    """Lets a fully masked query attend to the first key, which is the argmax of a row of -inf."""
    first = np.arange(s.shape[-1]) == 0
    return weigh(s, allowed | (idle(allowed) & first))


@wrong(
    "weigh", incident="BUG-01", where="(a mask or segments or positions) and a fully masked query"
)
def lets_idle_queries_see_themselves(s: Array, allowed: Array) -> Array:
    """Unmasks the diagonal for a fully masked query, so it attends to the key in its own row."""
    return weigh(s, allowed | (idle(allowed) & (np.eye(*s.shape[-2:]) > 0)))


@wrong("weigh", incident="BUG-01", where="a fully masked query")
def stumbles_over_leading_idle_queries(s: Array, allowed: Array) -> Array:
    """Returns uninitialised results (NaN) for fully masked queries before the first other query."""
    leading = np.logical_and.accumulate(idle(allowed), axis=-2)
    return np.where(leading, np.nan, weigh(s, allowed)).astype(s.dtype)


def _filled(s: Array, allowed: Array, fill: float) -> Array:
    """The weights if masked keys have the score `fill`; zero for a fully masked query."""
    return np.where(idle(allowed), 0, softmax(forbid(s, allowed, fill)))


@wrong("weigh", incident="BUG-11", where="a key that survives a fill of -30000")
def fills_with_minus_thirty_thousand(s: Array, allowed: Array) -> Array:
    """Masks with a score of -30000, not -inf; fully masked queries still return zero."""
    return _filled(s, allowed, -3e4)


@wrong("weigh", incident="BUG-11", where="a key that survives a fill of half the lowest number")
def fills_with_half_of_the_lowest_number(s: Array, allowed: Array) -> Array:
    """Masks with half of the lowest finite number, not -inf; fully masked queries return zero."""
    return _filled(s, allowed, float(np.finfo(s.dtype).min) / 2)


@wrong(
    "weigh",
    incident="BUG-11",
    force="should",
    where="a key that survives a fill of 0.7 of the lowest number",
)
def fills_with_seven_tenths_of_the_lowest_number(s: Array, allowed: Array) -> Array:
    """Masks with 0.7 times the lowest finite number, not -inf; fully masked queries return zero."""
    return _filled(s, allowed, 0.7 * float(np.finfo(s.dtype).min))
