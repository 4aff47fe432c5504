"""Known bugs that show at one arbitrary size, and at no other."""

import numpy as np

from spec.layer.mistakes import steps
from spec.layer.mistakes.making import wrong
from spec.layer.mistakes.steps import Mask
from spec.notation import Array


@wrong("combine", incident="BUG-13", where="M = 53")
def loses_a_token_at_one_length(s: Array, mask: Mask, padding: Mask) -> Array:
    """Masks the last key if there are exactly 53 keys."""
    scores = steps.combine(s, mask, padding)
    lost = (np.arange(s.shape[-1]) == 52) & (s.shape[-1] == 53)
    return np.where(lost, -np.inf, scores)


@wrong("finish", incident="BUG-19", where="H = 11")
def leaves_out_the_last_of_eleven_heads(context: Array, W: Array, b: Array | None, H: int) -> Array:
    """Sets the last head to zero before the output projection if there are exactly 11 heads."""
    last = context.shape[-1] // H * 10
    kept = np.arange(context.shape[-1]) < (last if H == 11 else context.shape[-1])
    return steps.finish(np.where(kept, context, 0), W, b, H)
