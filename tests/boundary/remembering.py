"""Targets that are right but for what they remember, or do later."""

import sys
import threading
import time
import weakref

import numpy as np

print("beside the specification:", "spec" in sys.modules, flush=True)


def attend(query, key, value):
    """A right function."""
    groups = query.shape[1] // key.shape[1]
    key, value = np.repeat(key, groups, 1), np.repeat(value, groups, 1)
    scores = query @ np.swapaxes(key, -1, -2) / query.dtype.type(np.sqrt(query.shape[-1]))
    weights = np.exp(scores - scores.max(-1, keepdims=True, initial=-1e30))
    return weights / weights.sum(-1, keepdims=True) @ value


def lse(query, key, value):  # noqa: ARG001 - as the function that it belongs to
    key = np.repeat(key, query.shape[1] // key.shape[1], 1)
    scores = query @ np.swapaxes(key, -1, -2) / query.dtype.type(np.sqrt(query.shape[-1]))
    return np.log(np.exp(scores).sum(-1))


attend.lse = lse
KNOWN = {}
BUFFERS = {}


def by_identity(query, key, value):
    """Remembers an answer by the query that it was given, as long as that lives."""
    known = KNOWN.get(id(query))
    if known is None or known[0]() is not query or known[1] != (key.shape, value.shape):
        shapes = key.shape, value.shape
        known = KNOWN[id(query)] = weakref.ref(query), shapes, attend(query, key, value)
    return known[2].copy()


def one_buffer(query, key, value):
    """Returns one array for all answers of a shape."""
    out = attend(query, key, value)
    buffer = BUFFERS.setdefault(out.shape, np.empty_like(out))
    buffer[...] = out
    return buffer


def writes_later(query, key, value):
    """Writes into an input a moment after its answer."""

    def write():
        time.sleep(0.001)
        query[...] = 7

    threading.Thread(target=write).start()
    return attend(query, key, value)
