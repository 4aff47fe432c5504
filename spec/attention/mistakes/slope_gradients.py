"""Known bugs of the backward pass through ALiBi slopes: wrong gradients or wrong weights."""

from typing import Any

import numpy as np

from spec.attention.mistakes.backward_steps import slope_gradients
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.placing import ahead, apart
from spec.attention.mistakes.steps import Pass
from spec.notation import Array

BACK = "gradients asked for and ALiBi slopes"
OF_SLOPES = "gradients of the slopes asked for and ALiBi slopes"
EACH = "ALiBi slopes per sequence and B > 1"


def summed(seen: Pass, each: Array) -> Array:
    """The slope gradient from the part of each batch element.   (B, H) to (H,) or (B, H)"""
    assert seen.slopes is not None
    return each if seen.slopes.ndim == 2 else each.sum(axis=0)


@wrong("slant", spoils="gradient", incident="BUG-42", where=BACK)
def differentiates_without_the_slopes(s: Array, _: float, __: Any) -> Array:
    """Recomputes the weights in the backward pass without the ALiBi slopes."""
    return s


@wrong("slope_gradients", incident="BUG-21", where=OF_SLOPES)
def returns_zero_gradients_of_slopes(seen: Pass, _: Array) -> Array:
    """Returns zero for the gradient of the ALiBi slopes, as if they were constants."""
    assert seen.slopes is not None
    return np.zeros(seen.slopes.shape)


@wrong("slope_gradients", incident="plausible", where=f"{OF_SLOPES} and B > 1")
def takes_slope_gradients_from_the_first_sequence(seen: Pass, ds: Array) -> Array:
    """Leaves all batch elements but the first out of the gradient of the ALiBi slopes."""
    each = -(ds * apart(seen.given)).sum(axis=(-2, -1))
    return summed(seen, each * (np.arange(len(each)) == 0)[:, None])


@wrong("slope_gradients", incident="plausible", where=f"{OF_SLOPES} and {EACH} and several scores")
def adds_slope_gradients_of_all_sequences(seen: Pass, ds: Array) -> Array:
    """Sums slope gradients over the batch, although each batch element has its own slopes."""
    found = slope_gradients(seen, ds)
    return found if found.ndim == 1 else found.sum(axis=0) + 0 * found


@wrong("slope_gradients", incident="plausible", where=f"{OF_SLOPES} and several scores")
def takes_the_gradient_of_a_slope_to_be_positive(seen: Pass, ds: Array) -> Array:
    """Returns the gradient of the ALiBi slopes with the wrong sign."""
    return -slope_gradients(seen, ds)


@wrong("slope_gradients", incident="plausible", where=OF_SLOPES)
def forgets_the_distance_in_slope_gradients(seen: Pass, ds: Array) -> Array:
    """Leaves the distance |p_i - r_j| out of the slope gradient: it only sums ds, as for a bias."""
    return summed(seen, -ds.sum(axis=(-2, -1)))


@wrong("slope_gradients", incident="plausible", where=f"{OF_SLOPES} and N > 1")
def averages_slope_gradients_over_queries(seen: Pass, ds: Array) -> Array:
    """Averages the slope gradient over the queries instead of summing it."""
    return slope_gradients(seen, ds) / max(seen.sizes.N, 1)


@wrong(
    "slope_gradients", incident="plausible", where=f"{OF_SLOPES} and not causal and several scores"
)
def signs_the_distance_in_slope_gradients(seen: Pass, ds: Array) -> Array:
    """Uses p_i - r_j instead of the distance |p_i - r_j| in the slope gradient."""
    return summed(seen, (ds * ahead(seen.given)).sum(axis=(-2, -1)))


@wrong(
    "slope_gradients",
    incident="plausible",
    where=f"{OF_SLOPES} and several scores and a scale other than 1",
)
def scales_slope_gradients(seen: Pass, ds: Array) -> Array:
    """Multiplies the slope gradient by the scale, which belongs only in dq and dk."""
    return seen.sigma * slope_gradients(seen, ds)
