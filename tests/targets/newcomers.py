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


def scales_and_fills_wrongly(query, key, value, mask=None):
    """Two mistakes: it divides by D, and fills with -1e9 where a mask hides a key."""
    if mask is not None and mask.dtype != bool:
        raise NotImplementedError("only booleans")
    s = query @ key.swapaxes(-1, -2) / query.dtype.type(query.shape[-1])
    s = s if mask is None else np.where(mask, s, query.dtype.type(-1e9))
    e = np.exp(s - s.max(axis=-1, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=-1, keepdims=True) @ value


def scales_fills_and_starts_wrongly(query, key, value, mask=None):
    """Three: a scale that no catalogue has, the fill, and a maximum that starts at -1e30."""
    s = query @ key.swapaxes(-1, -2) / query.dtype.type(np.sqrt(2 * query.shape[-1]))
    if mask is not None:
        s = np.where(mask, s, query.dtype.type(-1e9)) if mask.dtype == bool else s + mask
    e = np.exp(s - s.max(axis=-1, keepdims=True, initial=-1e30))
    return (e / e.sum(axis=-1, keepdims=True) @ value).astype(query.dtype)
