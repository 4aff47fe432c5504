"""Harmless variants of a feed-forward network: other correct ways to compute the same output."""

import numpy as np

from spec.feed_forward.mistakes.making import Forward, wrong
from spec.feed_forward.mistakes.steps import Pass, gate
from spec.notation import Array


@wrong("gate", incident="plausible", harmless=True)
def multiplies_by_the_sign(z: Array) -> Array:
    """Multiplies z by the boolean z > 0, which gives -0.0 for negative z."""
    return z * (z > 0)


@wrong("gate", incident="plausible", harmless=True)
def adds_the_absolute_value(z: Array) -> Array:
    """Computes the ReLU as (z + |z|) / 2."""
    return (z + np.abs(z)) / 2


@wrong("receive", incident="plausible", harmless=True)
def appends_a_column_of_ones(x: Array, W1: Array, b1: Array) -> Array:
    """Appends a column of ones to x, and b1 to W1 as one more row."""
    ones = np.ones((*x.shape[:-1], 1), x.dtype)
    return np.concatenate([x, ones], axis=-1) @ np.concatenate([W1, b1[None]], axis=0)


@wrong("call", incident="plausible", harmless=True)
def works_position_by_position(right: Forward, x: Array, *parameters: Array) -> Array:
    """Computes the output for one position at a time."""
    places = [x[:, n : n + 1] for n in range(x.shape[1])]
    return np.concatenate([right(place, *parameters) for place in places], axis=1)


@wrong("send", incident="plausible", harmless=True)
def adds_units_in_reverse(h: Array, W2: Array, b2: Array) -> Array:
    """Starts from the bias b2, and adds one unit at a time, the last unit first."""
    y = np.broadcast_to(b2, (*h.shape[:-1], len(b2))).copy()
    for f in reversed(range(len(W2))):
        y += h[..., f : f + 1] * W2[f]
    return y


@wrong("through_gate", incident="plausible", harmless=True)
def gates_by_what_units_hold(seen: Pass, dh: Array) -> Array:
    """Tests h > 0 in the backward pass, which is true exactly where z > 0."""
    return np.where(gate(seen.h) > 0, dh, 0)
