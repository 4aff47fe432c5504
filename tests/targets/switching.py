"""Attention functions that change on the way, as compiled ones do, for tests that it is noticed."""

import numpy as np

from tests import targets

_failed = []


def _backward(dout, query, key, value):
    return targets.repaired.backward(dout, query, key, value)


def _slow(query, key, value):
    """Right: the same sums in another order."""
    return targets.right(query, key[:, :, ::-1], value[:, :, ::-1])


def _first_gradients(dout, query, key, value):
    _failed.append(True)
    return _backward(dout, query, key, value)


def falls_back(query, key, value):
    """A fast way until gradients are asked for the first time, and a slow one ever after."""
    return _slow(query, key, value) if _failed else targets.right(query, key, value)


falls_back.backward = _first_gradients


def hides_its_fast_way(query, key, value):
    """Wrong as it is run, and right as soon as gradients have been asked for."""
    out = targets.right(query, key, value)
    return out if _failed else out * query.dtype.type(1.5)


hides_its_fast_way.backward = _first_gradients


def stays(query, key, value):
    return targets.right(query, key, value)


stays.backward = _backward


def eager(query, key, value, is_causal=False, ahead=0):
    """A chain of library calls in a narrow format, each of which rounds."""
    return _product(_weights(query, key, is_causal, ahead), value)


def eager_and_ahead(query, key, value, is_causal=False):
    """The same, but that causal hides one key too few."""
    return eager(query, key, value, is_causal, ahead=1)


def eager_without_the_scale(query, key, value, is_causal=False):
    """The same, but that a causal backward pass forgets the scale of the key gradients."""
    return eager(query, key, value, is_causal)


def _backward_without_the_scale(dout, query, key, value, is_causal=False):
    scale = query.dtype.type(query.shape[-1] ** -0.5)
    a, da = _weights(query, key, is_causal), _product(dout, value.swapaxes(-1, -2))
    row = (a.astype(np.float32) * da).sum(axis=-1, keepdims=True).astype(a.dtype)
    ds = a * (da - row)
    dk = _product(ds.swapaxes(-1, -2), query) * (1 if is_causal else scale)
    return _product(ds, key) * scale, dk, _product(a.swapaxes(-1, -2), dout)


eager_without_the_scale.backward = _backward_without_the_scale


def _weights(query, key, is_causal, ahead=0):
    s = _product(query, key.swapaxes(-1, -2)) * query.dtype.type(query.shape[-1] ** -0.5)
    if is_causal:
        s = np.where(np.tri(*s.shape[-2:], k=ahead, dtype=bool), s, -np.inf).astype(s.dtype)
    e = np.exp((s - s.max(axis=-1, keepdims=True)).astype(np.float32))
    return (e / e.sum(axis=-1, keepdims=True)).astype(s.dtype)


def _product(x, y):
    """Accumulated in float32, and rounded once."""
    return (x.astype(np.float32) @ y.astype(np.float32)).astype(x.dtype)
