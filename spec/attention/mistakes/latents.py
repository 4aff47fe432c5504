"""Known bugs of kernels for latent attention (MLA) that are called for ordinary attention.

In latent attention all heads share the keys, the values are a prefix of the keys, and the scale is
that of the full keys, which are never formed. Ordinary attention has none of these properties.
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
    """Ignores the given scale for grouped heads (G < H), and uses 1 / sqrt(D)."""
    return steps.scale(sizes, None if sizes.G < sizes.H else asked)


@wrong(
    "scale",
    spoils="gradient",
    incident="plausible",
    where=f"gradients asked for and {SHARED} and {SEVERAL}",
)
def scales_shared_gradients_by_their_own_width(sizes: Sizes, asked: float | None) -> float:
    """Ignores the given scale in the backward pass for grouped heads, and uses 1 / sqrt(D)."""
    return default_scale(sizes) if sizes.G < sizes.H else steps.scale(sizes, asked)


@wrong("read", incident="plausible", where="grouped heads and E <= D")
def reads_values_from_shared_keys(query: Array, key: Array, value: Array) -> Inputs:
    """Uses the first E columns of the keys as values for grouped heads (G < H), if E <= D."""
    width, shares = value.shape[-1], key.shape[1] < query.shape[1]
    prefix = key[..., :width] if shares and width <= key.shape[-1] else value
    return steps.read(query, key, prefix)


@wrong("read", incident="plausible", where="grouped heads and E < D and several scores")
def leaves_out_what_keys_have_beyond_values(query: Array, key: Array, value: Array) -> Inputs:
    """Ignores key columns beyond the first E for grouped heads (G < H), such as rotary columns."""
    beyond = np.arange(key.shape[-1]) >= value.shape[-1]
    shares = key.shape[1] < query.shape[1]
    return steps.read(query, np.where(beyond & shares, key.dtype.type(0), key), value)
