"""Kernels for latents, which are asked for attention: what holds of latents is taken for granted.

There keys are shared by all heads, values are a prefix of them, and the scale is that of keys that
nobody sees. Of attention none of this is so, and of latents only if it is said.
"""

import numpy as np

from spec.attention.mistakes import steps
from spec.attention.mistakes.gradients import SEVERAL
from spec.attention.mistakes.heads import Inputs
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import default_scale
from spec.notation import Array
from spec.sizes import Sizes

SHARED = "grouped heads and a scale"


@wrong("scale", incident="plausible", where=f"{SHARED} and several scores")
def scales_shared_keys_by_their_own_width(sizes: Sizes, asked: float | None) -> float:
    """Scales shared keys by the width that they have, and not as keys of each head are scaled."""
    return steps.scale(sizes, None if sizes.G < sizes.H else asked)


@wrong(
    "scale",
    spoils="gradient",
    incident="plausible",
    where=f"gradients asked for and {SHARED} and {SEVERAL}",
)
def scales_shared_gradients_by_their_own_width(sizes: Sizes, asked: float | None) -> float:
    """Does the same in the backward pass alone, which is handed no scale."""
    return default_scale(sizes) if sizes.G < sizes.H else steps.scale(sizes, asked)


@wrong("read", incident="plausible", where="grouped heads and E <= D")
def reads_values_from_shared_keys(query: Array, key: Array, value: Array) -> Inputs:
    """Loads shared keys once, and takes their first columns for the values."""
    width, shares = value.shape[-1], key.shape[1] < query.shape[1]
    prefix = key[..., :width] if shares and width <= key.shape[-1] else value
    return steps.read(query, key, prefix)


@wrong("read", incident="plausible", where="grouped heads and E < D and several scores")
def leaves_out_what_keys_have_beyond_values(query: Array, key: Array, value: Array) -> Inputs:
    """Loads of shared keys as many columns as values have, and forgets those that are turned."""
    beyond = np.arange(key.shape[-1]) >= value.shape[-1]
    shares = key.shape[1] < query.shape[1]
    return steps.read(query, np.where(beyond & shares, key.dtype.type(0), key), value)
