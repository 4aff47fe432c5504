"""Attention functions as newcomers write them, each with mistakes that a catalogue has."""

import numpy as np


def scores(query, key):
    return query @ key.swapaxes(-1, -2) / query.dtype.type(np.sqrt(query.shape[-1]))


def leaves_the_maximum(query, key, value):
    """Does not subtract the maximum, in the format of its arrays."""
    e = np.exp(scores(query, key))
    return e / e.sum(axis=-1, keepdims=True) @ value


def leaves_the_maximum_in_float64(query, key, value):
    """The same, where NumPy 2 makes float64 of all dtypes: np.sqrt(2) is no Python number."""
    s = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    e = np.exp(s)
    return e / e.sum(axis=-1, keepdims=True) @ value


def unscaled_in_float64(query, key, value):
    """Two mistakes: no scale, and a result in float64."""
    s = (query @ key.swapaxes(-1, -2)).astype(np.float64)
    e = np.exp(s - s.max(axis=-1, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=-1, keepdims=True) @ value
