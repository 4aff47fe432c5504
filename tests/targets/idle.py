"""What libraries do with a query from which every key is hidden: NaN, and a mean of all values."""

import math

import numpy as np
import torch

from tests.targets import _shared


def plain(query, key, value, attn_mask=None, is_causal=False, scale=None, enable_gqa=False):
    """The softmax of torch over -inf, as everybody writes it: NaN where all is -inf."""
    s, key, value = scores(query, key, value, scale, enable_gqa)
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        s = s.masked_fill(~attn_mask, -math.inf)
    elif attn_mask is not None:
        s = s + attn_mask
    if is_causal:
        s = s.masked_fill(future(s), -math.inf)
    return torch.softmax(s, dim=-1).to(value.dtype) @ value


def filled(query, key, value, attn_mask=None, is_causal=False, scale=None, enable_gqa=False):
    """The lowest finite number for False and for the future; what is to be added is added."""
    s, key, value = scores(query, key, value, scale, enable_gqa)
    lowest = torch.finfo(s.dtype).min
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        s = s.masked_fill(~attn_mask, lowest)
    elif attn_mask is not None:
        s = s + attn_mask
    if is_causal:
        s = s.masked_fill(future(s), lowest)
    return torch.softmax(s, dim=-1).to(value.dtype) @ value


def scores(query, key, value, scale, shares):
    if shares:
        times = query.shape[1] // key.shape[1]
        key, value = (x.repeat_interleave(times, dim=1) for x in (key, value))
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    return query * scale @ key.mT, key, value


def future(s):
    return torch.ones(s.shape[-2:], dtype=torch.bool).triu(1)


def hand_filled(query, key, value, attn_mask=None, is_causal=False, scale=None, enable_gqa=False):  # noqa: ARG001
    """The same in NumPy."""
    return softmax(query, key, attn_mask, is_causal, scale)[0] @ _shared(value, query)


def softmax(query, key, mask, is_causal, scale):
    """The weights, and where a number was filled in."""
    scale = query.dtype.type(1 / np.sqrt(query.shape[-1]) if scale is None else scale)
    s = scale * (query @ _shared(key, query).swapaxes(-1, -2))
    hidden = np.zeros(s.shape, dtype=bool)
    if mask is not None and mask.dtype == bool:
        hidden |= ~mask
    elif mask is not None:
        s = s + mask
    if is_causal:
        hidden |= ~np.tri(*s.shape[-2:], dtype=bool)
    s = np.where(hidden, np.finfo(s.dtype).min, s)
    e = np.exp(s - s.max(axis=-1, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=-1, keepdims=True), hidden, scale


def score_gradients(dout, query, key, value, mask, is_causal, scale):
    a, hidden, scale = softmax(query, key, mask, is_causal, scale)
    da = dout @ _shared(value, query).swapaxes(-1, -2)
    return a, np.where(hidden, 0, a * (da - (a * da).sum(axis=-1, keepdims=True))), scale


def hand_backward(dout, query, key, value, attn_mask=None, is_causal=False, scale=None, **_):
    a, ds, scale = score_gradients(dout, query, key, value, attn_mask, is_causal, scale)
    dq = scale * (ds @ _shared(key, query))
    dk, dv = scale * (ds.swapaxes(-1, -2) @ query), a.swapaxes(-1, -2) @ dout
    batch, heads = key.shape[:2]
    return dq, *(x.reshape(batch, heads, -1, *x.shape[2:]).sum(axis=2) for x in (dk, dv))


def hand_bias(dout, query, key, value, attn_mask=None, is_causal=False, scale=None, **_):
    ds = score_gradients(dout, query, key, value, attn_mask, is_causal, scale)[1]
    lead = ds.ndim - attn_mask.ndim
    ds = ds.sum(axis=tuple(range(lead)))
    once = tuple(i for i, n in enumerate(attn_mask.shape) if n == 1)
    return ds.sum(axis=once, keepdims=True)


hand_filled.backward = hand_backward
hand_filled.bias_gradient = hand_bias


def sends_nothing(query, key, value, attn_mask=None):
    """As `filled`, but that the mean of an idle row is a constant to those who differentiate."""
    out = filled(query, key, value, attn_mask)
    if attn_mask is None or attn_mask.dtype != torch.bool:
        return out
    idle = ~attn_mask.any(dim=-1, keepdim=True)
    return torch.where(idle, out.detach(), out)
