"""An attention function in NumPy, with masks, causality, its log-sum-exp and its gradients.

    attention-spec certify examples/numpy_function.py:attend --profile quick

Expect "attend: certified". The attributes `backward` and `lse` are optional: without them,
gradients and the log-sum-exp are not tested.
"""

import numpy as np


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    """(B, H, N, D), (B, H, M, D), (B, H, M, E) -> (B, H, N, E); True in a mask may attend."""
    weights, _ = _softmax(query, key, attn_mask, is_causal, scale)
    return (weights @ value).astype(query.dtype)


def backward(dout, query, key, value, attn_mask=None, is_causal=False, scale=None):
    """The gradients of <dout, out> with respect to query, key and value."""
    weights, _ = _softmax(query, key, attn_mask, is_causal, scale)
    dweights = dout @ np.swapaxes(value, -1, -2)
    dscores = weights * (dweights - (dweights * weights).sum(-1, keepdims=True))
    dscores = dscores * _scale(query, scale)
    dquery = dscores @ key
    dkey = np.swapaxes(dscores, -1, -2) @ query
    dvalue = np.swapaxes(weights, -1, -2) @ dout
    return tuple(x.astype(query.dtype) for x in (dquery, dkey, dvalue))


def lse(query, key, value, attn_mask=None, is_causal=False, scale=None):
    """The log-sum-exp of the scores of each query: (B, H, N)."""
    return _softmax(query, key, attn_mask, is_causal, scale)[1]


def _softmax(query, key, mask, is_causal, scale):
    scores = query @ np.swapaxes(key, -1, -2) * _scale(query, scale)
    if mask is not None and mask.dtype == bool:
        scores = np.where(mask, scores, -np.inf)
    elif mask is not None:
        scores = scores + mask
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    top = scores.max(-1, keepdims=True, initial=-np.inf)
    top = np.where(np.isneginf(top), 0, top)  # a fully masked query
    exponentials = np.exp(scores - top)
    total = exponentials.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        log_sum_exp = (np.log(total) + top)[..., 0]
    return exponentials / np.where(total == 0, 1, total), log_sum_exp


def _scale(query, scale):
    return query.dtype.type(1 / np.sqrt(query.shape[-1]) if scale is None else scale)


attend.backward = backward
attend.lse = lse
