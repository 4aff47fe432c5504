"""A kernel whose row term is the sum of `dout * out`, as in FlashAttention, and dk is unscaled.

With a single key the gradient of its score is an exact zero, and this row term leaves a residue.
So where the scale is zero too, dk is wrong by a last bit, while the known bug has it right.
"""

import numpy as np


def weights(query, key, scale):
    s = (query @ key.swapaxes(-1, -2)) * query.dtype.type(scale)
    e = np.exp(s - s.max(axis=-1, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=-1, keepdims=True)


def attend(query, key, value, scale=None):
    """Attention, right."""
    scale = 1 / np.sqrt(query.shape[-1]) if scale is None else scale
    return weights(query, key, scale) @ value


def backward(dout, query, key, value, scale=None):
    """Its gradients, with dk as if the scale were 1."""
    scale = 1 / np.sqrt(query.shape[-1]) if scale is None else scale
    a = weights(query, key, scale)
    term = (dout * (a @ value)).sum(axis=-1, keepdims=True)
    ds = a * (dout @ value.swapaxes(-1, -2) - term)
    dq = (ds @ key) * query.dtype.type(scale)
    return dq, ds.swapaxes(-1, -2) @ query, a.swapaxes(-1, -2) @ dout


attend.backward = backward
