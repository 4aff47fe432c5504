"""The arrays of options in small problems, which have B = 2, H = G = 3, N = M = 4."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from spec.notation import Array

Options = tuple[Mapping[str, Array], ...]

PADDED = (np.arange(4) < np.array([[4], [3]]))[:, None, None]
SEEN = np.tri(4, k=1, dtype=bool)
ADDED = (np.arange(16.0).reshape(4, 4) - 7) / 8  # every format has eighths
HIDING = np.where(SEEN, ADDED, -np.inf)

# Slopes of each sequence, and of all.
EACH = np.array([[0.5, -0.25, 1.0], [0.25, 1.5, 0.0]])
STEEP: Options = ({"slopes": EACH},)
SLOPES: Options = ({"slopes": EACH[0]}, {"slopes": np.array([0.125, 0.25, 0.0625])})

# One text in each sequence, and padding behind one; the same of fewer keys than queries.
OF_ONE_TEXT: Mapping[str, Array] = dict.fromkeys(
    ("query_segments", "key_segments"), np.array([[0, 0, 0, 0], [0, 0, 0, -1]])
)
UNLIKE: Mapping[str, Array] = {
    **OF_ONE_TEXT,
    "key_segments": np.array([[0, 0, 0, -1], [0, 0, -1, -1]]),
}

# Two texts in one sequence, in the other one and padding; the same of queries and keys alike.
ALIKE_TEXTS: Mapping[str, Array] = dict.fromkeys(
    ("query_segments", "key_segments"), np.array([[0, 0, 1, 1], [3, 3, 3, -1]])
)
OF_TEXTS: Mapping[str, Array] = {
    "query_segments": np.array([[0, 0, 1, 1], [3, 3, 3, -1]]),
    "key_segments": np.array([[0, 1, 1, 1], [3, 3, -1, -1]]),
}

# Two texts of which tokens take turns, among the keys in another order than among the queries.
TAKING_TURNS: Mapping[str, Array] = {
    "query_segments": np.array([[0, 1, 0, 1], [0, 1, 0, 1]]),
    "key_segments": np.array([[0, 1, 1, 0], [0, 1, 1, 0]]),
}

# A cache of which the first sequence has read two tokens and the second, padded to the left, none.
AT = np.array([[2, 3, 4, 5], [-1, 0, 1, 2]])
OF = np.array([[4, 0, 2, 3], [-1, 0, 1, 2]])
PLACES: Options = (
    {"query_positions": AT, "key_positions": OF},
    {"query_positions": AT},
    {"key_positions": OF},
)


def written_out(mask: Array, heads: int = 3) -> Array:
    """A mask (N, M) for every batch element and head of a small problem."""
    return np.broadcast_to(mask, (2, heads, 4, 4)).copy()


WINDOWS: tuple[Mapping[str, Any], ...] = (
    {"window": (1, 2)},
    {"window": (1, 0)},
    {"M": 5, "window": (1, 2)},
    {"window": (1, None)},  # for a function that takes a left bound alone
)
# Masks of keys alone, (B, 1, 1, M), and others.
OF_KEYS: Options = ({"mask": PADDED}, {"mask": np.where(PADDED, ADDED[0], -np.inf)})
BOOLEAN: Options = (
    {"mask": written_out(SEEN)},
    {"mask": SEEN},
    {"mask": written_out(SEEN, heads=1)},
)
ADDITIVE: Options = ({"mask": written_out(HIDING)}, {"mask": HIDING}, {"mask": ADDED})
MASKS: Options = (OF_KEYS[0], *BOOLEAN[:2], OF_KEYS[1], *ADDITIVE)
