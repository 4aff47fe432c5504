"""The way back through slopes: their own gradient, and the weights that they have made."""

from typing import Any

import numpy as np

from spec.attention.mistakes.backward_steps import slope_gradients
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.placing import ahead, apart
from spec.attention.mistakes.steps import Pass
from spec.notation import Array

BACK = "gradients asked for and slopes"
OF_SLOPES = "gradients of the slopes asked for and slopes"
EACH = "slopes of each sequence and B > 1"


def summed(seen: Pass, each: Array) -> Array:
    """What each sequence adds, for those that share their slopes.   (B, H) to (H,) or (B, H)"""
    assert seen.slopes is not None
    return each if seen.slopes.ndim == 2 else each.sum(axis=0)


@wrong("slant", spoils="gradient", incident="I42", where=BACK)
def differentiates_without_the_slopes(s: Array, _: float, __: Any) -> Array:
    """Computes the weights again in the backward pass, and there without slopes."""
    return s


@wrong("slope_gradients", incident="I21", where=OF_SLOPES)
def returns_zero_gradients_of_slopes(seen: Pass, _: Array) -> Array:
    """Takes slopes for constants, which some models learn."""
    assert seen.slopes is not None
    return np.zeros(seen.slopes.shape)


@wrong("slope_gradients", incident="plausible", where=f"{OF_SLOPES} and B > 1")
def takes_slope_gradients_from_the_first_sequence(seen: Pass, ds: Array) -> Array:
    """Writes what each sequence adds to the same place."""
    each = -(ds * apart(seen.given)).sum(axis=(-2, -1))
    return summed(seen, each * (np.arange(len(each)) == 0)[:, None])


@wrong("slope_gradients", incident="plausible", where=f"{OF_SLOPES} and {EACH} and several scores")
def adds_slope_gradients_of_all_sequences(seen: Pass, ds: Array) -> Array:
    """Sums over the batch, where every sequence has slopes of its own."""
    found = slope_gradients(seen, ds)
    return found if found.ndim == 1 else found.sum(axis=0) + 0 * found


@wrong("slope_gradients", incident="plausible", where=f"{OF_SLOPES} and several scores")
def takes_the_gradient_of_a_slope_to_be_positive(seen: Pass, ds: Array) -> Array:
    """Loses the sign: a steeper slope takes more."""
    return -slope_gradients(seen, ds)


@wrong("slope_gradients", incident="plausible", where=OF_SLOPES)
def forgets_the_distance_in_slope_gradients(seen: Pass, ds: Array) -> Array:
    """Sums the gradient of the scores, as for a bias, which adds up to nothing."""
    return summed(seen, -ds.sum(axis=(-2, -1)))


@wrong("slope_gradients", incident="plausible", where=f"{OF_SLOPES} and N > 1")
def averages_slope_gradients_over_queries(seen: Pass, ds: Array) -> Array:
    """Takes the mean over queries, where it is a sum."""
    return slope_gradients(seen, ds) / max(seen.sizes.N, 1)


@wrong(
    "slope_gradients", incident="plausible", where=f"{OF_SLOPES} and not causal and several scores"
)
def signs_the_distance_in_slope_gradients(seen: Pass, ds: Array) -> Array:
    """Multiplies by p_i - r_j, which is the distance of what lies behind."""
    return summed(seen, (ds * ahead(seen.given)).sum(axis=(-2, -1)))


@wrong(
    "slope_gradients",
    incident="plausible",
    where=f"{OF_SLOPES} and several scores and a scale other than 1",
)
def scales_slope_gradients(seen: Pass, ds: Array) -> Array:
    """Multiplies by the scale, as for queries and keys."""
    return seen.sigma * slope_gradients(seen, ds)
