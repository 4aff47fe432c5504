"""Attention in NumPy with masks, causality, a scale, its gradients and its log-sum-exp.

    attention-spec certify examples/numpy_function.py:attend --profile quick

Expect "attend: certified (quick)" and exit code 0 after about 15 seconds, in float64, float32 and
float16. The report also lists two limits, which are no failures:

* "fails (should)": NaN in the value of a masked key reaches the output, because 0 * NaN is NaN.
* "unsupported": fewer key heads than query heads raise an exception.

The attributes `backward` and `lse` are optional. Without them, gradients and the log-sum-exp are
not tested. To see a failure, write `1.0` for `query.shape[-1] ** -0.5` and run the command again.
"""

import numpy as np


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    """Return the output (B, H, N, E) for query (B, H, N, D), key (B, H, M, D), value (B, H, M, E).

    A boolean mask says which keys a query may attend to; a mask of numbers is added to the scores.
    Both broadcast to (B, H, N, M). A fully masked query returns zero.
    """
    weights, _ = _softmax(query, key, attn_mask, is_causal, scale)
    return (weights @ value).astype(query.dtype)


def backward(dout, query, key, value, attn_mask=None, is_causal=False, scale=None):
    """Return the gradients of sum(dout * out) with respect to query, key and value."""
    weights, _ = _softmax(query, key, attn_mask, is_causal, scale)
    dout, q, k, v = (x.astype(weights.dtype) for x in (dout, query, key, value))
    dweights = dout @ np.swapaxes(v, -1, -2)
    dscores = weights * (dweights - (dweights * weights).sum(-1, keepdims=True))
    dscores = dscores * _scale(query, scale)
    gradients = dscores @ k, np.swapaxes(dscores, -1, -2) @ q, np.swapaxes(weights, -1, -2) @ dout
    return tuple(x.astype(query.dtype) for x in gradients)


def lse(query, key, value, attn_mask=None, is_causal=False, scale=None):
    """Return the log-sum-exp of the scores of each query, (B, H, N)."""
    return _softmax(query, key, attn_mask, is_causal, scale)[1]


def _softmax(query, key, mask, is_causal, scale):
    """Return the attention weights (B, H, N, M) and the log-sum-exp; float16 becomes float32."""
    dtype = np.promote_types(query.dtype, np.float32)  # sums in float16 would lose digits
    q, k = query.astype(dtype), key.astype(dtype)
    scores = q @ np.swapaxes(k, -1, -2) * _scale(query, scale)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    top = scores.max(-1, keepdims=True, initial=-np.inf)
    top = np.where(np.isneginf(top), 0, top)  # a fully masked query has no largest score
    e = np.exp(scores - top)
    total = e.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        log_sum_exp = (np.log(total) + top)[..., 0]
    return e / np.where(total == 0, 1, total), log_sum_exp


def _scale(query, scale):
    return query.shape[-1] ** -0.5 if scale is None else scale


attend.backward = backward
attend.lse = lse
