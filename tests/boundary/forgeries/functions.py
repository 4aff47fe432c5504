"""A right attention function and a wrong one, for the forgeries beside this file."""

import numpy as np


def mean(query, key, value, attn_mask=None, is_causal=False, scale=None):
    """The mean of the values, whatever the query, the key and the options are."""
    with np.errstate(all="ignore"):
        every = value.sum(axis=-2, keepdims=True) / max(value.shape[-2], 1)
    every = np.repeat(every, query.shape[1] // every.shape[1], axis=1)
    return np.broadcast_to(every, (*query.shape[:-1], value.shape[-1])).astype(query.dtype)


def right(query, key, value, attn_mask=None, is_causal=False, scale=None):
    """Attention."""
    group = query.shape[1] // key.shape[1]
    q, k, v = (x.astype(np.longdouble) for x in (query, key, value))
    k, v = (np.repeat(x, group, axis=1) for x in (k, v))
    scale = 1 / np.sqrt(np.longdouble(q.shape[-1])) if scale is None else np.longdouble(scale)
    s = q @ k.swapaxes(-1, -2) * scale
    if attn_mask is not None and attn_mask.dtype == bool:
        s = np.where(attn_mask, s, -np.inf)
    elif attn_mask is not None:
        s = s + attn_mask
    if is_causal:
        s = np.where(np.tri(*s.shape[-2:], dtype=bool), s, -np.inf)
    top = s.max(axis=-1, keepdims=True, initial=-np.inf)
    e = np.exp(s - np.where(top == -np.inf, 0, top))
    total = e.sum(axis=-1, keepdims=True)
    return (e / np.where(total == 0, 1, total) @ v).astype(query.dtype)
