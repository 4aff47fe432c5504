"""The correct step that separates packed sequences, and building blocks of its known bugs.

given: the arguments of a call (`spec.attention.mistakes.given.Given`).
"""

from typing import Any

import numpy as np

from spec.notation import Array

EVERYWHERE = np.ones((1, 1, 1, 1), dtype=bool)


def same_text(given: Any) -> Array:
    """True where query and key have the same id >= 0, or if there are no segments.  (B, 1, N, M)"""
    if given.query_segments is None:
        return EVERYWHERE
    mine, theirs = beside(given)
    return (mine == theirs) & (theirs >= 0)


def beside(given: Any) -> tuple[Array, Array]:
    """The segment ids, in shapes that broadcast with scores.   (B, 1, N, 1) and (B, 1, 1, M)"""
    mine, theirs = (x.astype(np.int64) for x in (given.query_segments, given.key_segments))
    return mine[:, None, :, None], theirs[:, None, None, :]
