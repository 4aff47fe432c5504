"""Which two columns are a pair: a convention, and a permutation of the columns.

    interleaved   (0, 1), (2, 3), ...                 the default, and the order of all problems
    halves        (0, E/2), (1, E/2 + 1), ...         first ones first, then all second ones

A function of one pairing is the same function of the other between two permutations of its
columns, P and P^-1, so one definition serves both. In an odd width, the last column is the
first of a pair whose second is missing.
"""

import numpy as np

from spec.notation import Array

PAIRINGS = ("interleaved", "halves")


def order(width: int, pairing: str, turned: int | None = None) -> Array:
    """Our columns in the order in which a function of this pairing wants them.

    turned: the columns that are paired at all, if not all of them.
    """
    columns = np.arange(width)
    if pairing == "interleaved":
        return columns
    paired = columns[:turned]
    return np.concatenate([paired[0::2], paired[1::2], columns[len(paired) :]])


def woven(first: Array, second: Array) -> Array:
    """The first and the second of every pair, side by side.   (..., 2 pairs)"""
    return np.stack([first, second], axis=-1).reshape(*first.shape[:-1], -1)


def inverse(width: int, pairing: str, turned: int | None = None) -> Array:
    """Where each of our columns is in that order."""
    return np.argsort(order(width, pairing, turned))
