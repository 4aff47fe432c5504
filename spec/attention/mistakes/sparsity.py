"""Known bugs that leave out small weights, and other shortcuts.

A weight that is left out can still matter: a key of weight 1e-4 with a value of 1e4 is half of
the output.
"""

import numpy as np

from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.softmax import normalised, powers
from spec.attention.mistakes.steps import scores, weigh
from spec.notation import Array


@wrong("weigh", incident="plausible", where="weights below 0.0001")
def drops_weights_below_a_ten_thousandth(s: Array, allowed: Array) -> Array:
    """Sets weights below 1e-4 to zero, and does not normalise again."""
    a = weigh(s, allowed)
    return np.where(a < 1e-4, 0, a)


@wrong("weigh", incident="plausible", where="M > 8")
def keeps_the_eight_largest(s: Array, allowed: Array) -> Array:
    """Attends only to the eight keys with the largest scores of each query."""
    e = powers(s, allowed)
    if e.shape[-1] <= 8:
        return normalised(e)
    eighth = np.sort(e, axis=-1)[..., -8, None]
    return normalised(np.where(e >= eighth, e, 0))


@wrong("weigh", incident="plausible", where="M > 1")
def attends_to_the_best_key_only(s: Array, allowed: Array) -> Array:
    """Attends only to the key with the largest score: it uses argmax instead of softmax."""
    e = powers(s, allowed)
    return normalised(np.where(e == 1, e, 0))


@wrong("weigh", incident="plausible", where="M > 1")
def drops_the_lightest_key(s: Array, allowed: Array) -> Array:
    """Leaves out the key with the smallest weight, if a query may attend to more than one."""
    e = powers(s, allowed)
    lightest = np.where(allowed, e, np.inf).min(axis=-1, keepdims=True, initial=np.inf)
    alone = allowed.sum(axis=-1, keepdims=True) < 2
    return normalised(np.where((e > lightest) | alone, e, 0))


@wrong("weigh", incident="plausible", where="M > 1")
def drops_the_last_key(s: Array, allowed: Array) -> Array:
    """Leaves out the last key if M > 1: the loop over the keys ends one too early."""
    return weigh(s, allowed & (np.arange(s.shape[-1]) < max(s.shape[-1] - 1, 1)))


@wrong("combine", incident="plausible", where="several scores or a fully masked query")
def averages_the_values(_: Array, v: Array, allowed: Array) -> Array:
    """Returns the mean of all values for every query, and ignores queries, keys and masks."""
    mean = v.sum(axis=-2, keepdims=True) / max(v.shape[-2], 1)
    return np.broadcast_to(mean, (*allowed.shape[:-1], v.shape[-1]))


@wrong("combine", incident="plausible")
def returns_zero(_: Array, v: Array, allowed: Array) -> Array:
    """Returns zeros: it allocates the output, but never writes it."""
    return np.zeros((*allowed.shape[:-1], v.shape[-1]), dtype=v.dtype)


@wrong("scores", incident="plausible", where="M > 1")
def favours_recent_keys(q: Array, k: Array, sigma: float) -> Array:
    """Adds j / 1000 to the score of key j, so later keys gain weight."""
    return scores(q, k, sigma) + q.dtype.type(1e-3) * np.arange(k.shape[-2], dtype=q.dtype)


@wrong("scores", incident="plausible", where="several scores")
def favours_the_diagonal(q: Array, k: Array, sigma: float) -> Array:
    """Adds 0.01 to the score of query i with key i."""
    return scores(q, k, sigma) + np.eye(q.shape[-2], k.shape[-2], dtype=q.dtype) / 100


@wrong("scores", incident="plausible", where="several scores")
def centres_each_key_on_its_own_mean(q: Array, k: Array, sigma: float) -> Array:
    """Centres each key on the mean of its entries; subtracting the mean of all keys is harmless."""
    return scores(q, k - k.mean(axis=-1, keepdims=True), sigma)


@wrong("weigh", incident="BUG-38", citation="ml-explore/mlx#3573", where="N > 8 and M > 1")
def switches_beyond_eight_queries(s: Array, allowed: Array) -> Array:
    """Adds 0.001 to the score of the first key if N > 8, where it takes another code path."""
    gain = (s.shape[-2] > 8) * (np.arange(s.shape[-1]) == 0) / 1000
    return weigh(s + gain.astype(s.dtype), allowed)
