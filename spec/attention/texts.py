"""How texts lie in arrays that hold several: the segments of queries and of keys.

Mostly one text behind the other, each of any length in both arrays, so that some have no keys, some
no queries, and some are not there at all. Now and then labels are no numbers in a row, the tokens
of several texts take turns, or padding fills the end.
"""

import numpy as np

from spec.notation import Array

MOST = 4  # texts in a sequence
LABELS = (3, 0, 7, 16, 19, 256, 259)  # in any order; some are alike in their last bits


def drawn(seed: int, batch: int, queries: int, keys: int) -> tuple[Array, Array]:
    """Segments (B, N) and (B, M); those of keys are often those of queries where N = M."""
    chance = np.random.default_rng(seed)
    alike = queries == keys and chance.random() < 0.5
    odd, mixed, padded = chance.random(3) < 0.25
    found = np.zeros((batch, queries), dtype=int), np.zeros((batch, keys), dtype=int)
    for mine, theirs in zip(*found, strict=True):
        count = int(chance.integers(1, MOST + 1))
        labels = chance.permutation(LABELS)[:count] if odd else np.arange(count)
        mine[:] = in_a_row(chance, labels, queries, mixed, padded)
        theirs[:] = mine if alike else in_a_row(chance, labels, keys, mixed, padded)
    return found


def in_a_row(
    chance: np.random.Generator, labels: Array, length: int, mixed: bool, padded: bool
) -> Array:
    """Segments of a sequence; mixed: texts take turns. padded: at the end there may be none."""
    cuts = np.sort(chance.integers(0, length + 1, len(labels) - 1))
    x = np.repeat(labels, np.diff(cuts, prepend=0, append=length))
    x = chance.permutation(x) if mixed else x
    return np.where(np.arange(length) < length - padded * chance.integers(length // 2 + 1), x, -1)
