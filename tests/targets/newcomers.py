"""Attention functions as newcomers write them, each with mistakes that a catalogue has."""

import numpy as np


def scores(query, key):
    return query @ key.swapaxes(-1, -2) / query.dtype.type(np.sqrt(query.shape[-1]))


def leaves_the_maximum(query, key, value):
    """Does not subtract the maximum, in the format of its arrays."""
    e = np.exp(scores(query, key))
    return e / e.sum(axis=-1, keepdims=True) @ value
