"""The step that keeps texts apart, and what wrong ones are made of.

given: what a caller gives (`spec.attention.mistakes.making.Given`).
"""

from typing import Any

import numpy as np

from spec.notation import Array

EVERYWHERE = np.ones((1, 1, 1, 1), dtype=bool)


def same_text(given: Any) -> Array:
    """True where query and key are of one text and no padding, if there are any.  (B, 1, N, M)"""
    if given.query_segments is None:
        return EVERYWHERE
    mine, theirs = beside(given)
    return (mine == theirs) & (theirs >= 0)


def beside(given: Any) -> tuple[Array, Array]:
    """The segments as they stand beside scores.   (B, 1, N, 1) and (B, 1, 1, M)"""
    mine, theirs = (x.astype(np.int64) for x in (given.query_segments, given.key_segments))
    return mine[:, None, :, None], theirs[:, None, None, :]
