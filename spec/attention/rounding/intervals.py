"""How far weights may be where their exponents are hardly determined, as those of large scores are.

Lemma 6 (intervals). Whatever the errors of the exponents are, |delta_j| <= x_j, the weights that
they make, before any sum is rounded, lie between

    lo_j = e^(s_j - x_j) / (e^(s_j - x_j) + sum_{l != j} e^(s_l + x_l))
    hi_j = e^(s_j + x_j) / (e^(s_j + x_j) + sum_{l != j} e^(s_l - x_l))

as a weight grows with its own exponent and falls with all others. Both these weights and the exact
ones add up to one, so that for their output o'

    |o'_c - o_c| = |sum_j (a'_j - a_j) (v_jc - o_c)| <= sum_j apart_j |v_jc - o_c|
    apart_j      = max(hi_j - a_j, a_j - lo_j)

A key whose score lies further below another one than both may move has next to no part in this. In
`weights`, epsilon says the same of small x, to first order.
"""

import numpy as np

from spec.notation import Array

HUGE = 2.0**60  # an exponent that is off by so much says nothing
MOST = 40.0  # the logarithm of the largest bound of a weight, which says nothing
ROUNDED = 2.0**-51  # relative, of an exponent here; and of a sum, for each of its terms


def between(gap: Array, x: Array, seen: Array) -> tuple[Array, Array]:
    """The smallest and the largest that each weight may be; 0 at keys that are not seen.

    gap: how far a score lies below the largest of its row. x: the error of an exponent. seen: the
    visible keys. All of these and the results: (..., M).
    """
    low, high, slack = _ends(gap, x, seen)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        least = 1.0 / (1.0 + np.exp(_log_of_others(high) + slack - low))
        most = 1.0 / (1.0 + np.exp(_log_of_others(low) - slack - high))
    return np.where(seen, least, 0.0), np.where(seen, most, 0.0)


def again(gap: Array, x: Array, seen: Array) -> tuple[Array, Array]:
    """The same of exp(s - lse), whose sum has exponents that were computed before.   (..., M) each

    The largest may be above one, up to e^(2 x), and is cut off at e^MOST.
    """
    low, high, slack = _ends(gap, x, seen)
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.exp(low - np.logaddexp(_log_of_others(high), high) - slack)
        above = high - np.logaddexp(_log_of_others(low), low) + slack
    return np.where(seen, least, 0.0), np.where(seen, np.exp(np.minimum(above, MOST)), 0.0)


def _ends(gap: Array, x: Array, seen: Array) -> tuple[Array, Array, Array]:
    """The smallest and the largest exponent of each key, and the error of what is made of them."""
    x = np.minimum(x, HUGE)
    low, high = (np.where(seen, move - gap, -np.inf) for move in (-x, x))
    return low, high, ROUNDED * (gap.shape[-1] + 8 + gap + x)


def _log_of_others(s: Array) -> Array:
    """log sum_{l != j} e^(s_l), which is -inf where there is no other key.   (..., M)

    The largest is left out of its own sum before that is scaled; to subtract another from the sum
    of all loses nothing, as what is left is no smaller than either.
    """
    first = np.arange(s.shape[-1]) == s.argmax(axis=-1)[..., None]
    top = s.max(axis=-1, keepdims=True)
    each = np.exp(s - top)
    others = np.log(each.sum(axis=-1, keepdims=True) - each) + top
    left = np.where(first, -np.inf, s)
    second = left.max(axis=-1, keepdims=True)
    of_first = np.log(np.exp(left - second).sum(axis=-1, keepdims=True)) + second
    return np.where(first, np.where(second > -np.inf, of_first, -np.inf), others)
