"""Functions that call their options as deployed ones do, and mean what these mean by them."""

import numpy as np

from spec.notation import Array

NONE = (-1, -1)
BITS = float(np.log(2))


def flash_attn_func(
    q,
    k,
    v,
    dropout_p=0.0,  # noqa: ARG001 - as there, with nothing to drop
    softmax_scale=None,
    causal=False,
    window_size=NONE,
    softcap=0.0,
    alibi_slopes=None,
    deterministic=False,  # noqa: ARG001
    return_attn_probs=False,
):
    """flash-attn 2: arrays (B, N, H, D), diagonals that end at the last key, -1 for no bound."""
    N, M = q.shape[1], k.shape[1]
    behind = np.arange(N)[:, None] + M - N - np.arange(M)
    left, right = window_size
    seen = np.ones((N, M), dtype=bool)
    seen &= (behind <= left) | (left < 0)
    seen &= (behind >= -right) | (right < 0)
    seen &= (behind >= 0) | (not causal)
    scores = _scores(q, k, softmax_scale)
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    if alibi_slopes is not None:
        scores = scores - (alibi_slopes[..., None, None] * np.abs(behind)).astype(scores.dtype)
    out, lse = _softmax(np.where(seen, scores, -np.inf), v)
    return (out, lse, None) if return_attn_probs else out


def dot_product_attention(
    query,
    key,
    value,
    bias=None,
    mask=None,
    *,
    scale=None,
    is_causal=False,
    local_window_size=None,
    return_residual=False,
):
    """jax.nn: arrays (B, N, H, D), numbers by `bias`, truth by `mask`, a window without None."""
    N, M = query.shape[1], key.shape[1]
    behind = np.arange(N)[:, None] - np.arange(M)
    seen = np.ones((N, M), dtype=bool) & ((behind >= 0) | (not is_causal))
    if local_window_size is not None:
        left, right = local_window_size
        seen &= (behind <= left) & (behind >= -right)
    if mask is not None:
        if mask.dtype != bool:
            raise TypeError("mask must be boolean")
        seen = seen & mask
    scores = _scores(query, key, scale)
    scores = scores if bias is None else scores + bias.astype(scores.dtype)
    out, lse = _softmax(np.where(seen, scores, -np.inf), value)
    return (out, np.swapaxes(lse, 1, 2)) if return_residual else out


def sliding(query, key, value, is_causal=False, sliding_window=None):
    """A configuration's window: so many keys, the query's own the last of them."""
    behind = np.arange(query.shape[1])[:, None] - np.arange(key.shape[1])
    seen = (behind >= 0) | (not is_causal)
    if sliding_window is not None:
        seen &= (behind >= 0) & (behind < sliding_window)
    return _softmax(np.where(seen, _scores(query, key, None), -np.inf), value)[0]


def without_itself(query, key, value, is_causal=False, sliding_window=None):
    """Counts so many keys before the query's own, as flash-attn's `window_size` does."""
    more = None if sliding_window is None else sliding_window + 1
    return sliding(query, key, value, is_causal, more)


def adds_truth(query, key, value, bias=None):
    """Takes numbers to add and no truth values, which would be added as 0 and 1."""
    scores = _scores(query, key, None)
    return _softmax(scores if bias is None else scores + bias.astype(scores.dtype), value)[0]


def _scores(q: Array, k: Array, scale: float | None) -> Array:
    """Scaled products (B, H, N, M) of arrays (B, N, H, D) and (B, M, G, D)."""
    k = np.repeat(k, q.shape[2] // k.shape[2], axis=2)
    scale = q.shape[3] ** -0.5 if scale is None else scale
    products = np.einsum("bnhd,bmhd->bhnm", q, k, dtype=_wide(q), casting="unsafe")
    return products * products.dtype.type(scale)


def _softmax(scores: Array, v: Array) -> tuple[Array, Array]:
    """The output (B, N, H, E) and the log-sum-exp (B, H, N); of nothing, zero and -inf."""
    v = np.repeat(v, scores.shape[1] // v.shape[2], axis=2)
    most = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    most = np.where(np.isfinite(most), most, 0)
    powers = np.exp(scores - most)
    total = powers.sum(axis=-1, keepdims=True)
    weights = powers / np.where(total == 0, 1, total)
    out = np.einsum("bhnm,bmhe->bnhe", weights, v.astype(weights.dtype)).astype(v.dtype)
    with np.errstate(divide="ignore"):
        return out, (most + np.log(total))[..., 0]


def _wide(x: Array) -> type:
    return np.float32 if x.dtype == np.float16 else x.dtype.type


def right_with_lse(query, key, value, softmax_scale=None, return_lse=False):
    """The output, and the log-sum-exp (B, H, N) beside it where that is asked for."""
    found = _softmax(_scores(query, key, softmax_scale), value)
    return found if return_lse else found[0]


def lse_of_another_scale(query, key, value, softmax_scale=None, return_lse=False):
    """Forgets the scale that was asked for in the log-sum-exp alone."""
    out, _ = _softmax(_scores(query, key, softmax_scale), value)
    return (out, _softmax(_scores(query, key, None), value)[1]) if return_lse else out


def returns_no_lse(query, key, value, return_lse=False):  # noqa: ARG001
    """Has the parameter, and returns the output alone."""
    return _softmax(_scores(query, key, None), value)[0]


def right_with_residual(query, key, value, return_residual=False):
    """The log-sum-exp as jax.nn has it, (B, N, H)."""
    out, lse = _softmax(_scores(query, key, None), value)
    return (out, np.swapaxes(lse, 1, 2)) if return_residual else out


def residual_of_heads(query, key, value, return_residual=False):
    """Returns it as (B, H, N), and asks for the residual of (B, N, H)."""
    found = _softmax(_scores(query, key, None), value)
    return found if return_residual else found[0]


def single_prefill(
    q,
    k,
    v,
    custom_mask=None,
    causal=False,
    sm_scale=None,
    window_left=-1,
    logits_soft_cap=None,
    return_lse=False,
    base=BITS,
):
    """FlashInfer: one request (N, H, D), a mask in place of causality, lse (N, H) in bits."""
    N, M = len(q), len(k)
    behind = np.arange(N)[:, None] + M - N - np.arange(M)
    seen = custom_mask if custom_mask is not None else (behind >= 0) | (not causal)
    seen = seen & ((behind <= window_left) | (window_left < 0))
    scores = _scores(q[None], k[None], sm_scale)
    if logits_soft_cap:
        scores = logits_soft_cap * np.tanh(scores / logits_soft_cap)
    out, lse = _softmax(np.where(seen, scores, -np.inf), v[None])
    lse = lse[0].T / lse.dtype.type(base)
    return (out[0], lse) if return_lse else out[0]


def natural_prefill(q, k, v, return_lse=False):
    """The same with a natural logarithm."""
    return single_prefill(q, k, v, return_lse=return_lse, base=1.0)


def heads_first_prefill(q, k, v, return_lse=False):
    """The same with lse (H, N)."""
    out, lse = single_prefill(q, k, v, return_lse=True)
    return (out, lse.T) if return_lse else out


def window_of_one_less(q, k, v, causal=False, window_left=-1):
    """The same, and the query's own key is one of those of a window."""
    return single_prefill(q, k, v, causal=causal, window_left=max(window_left - 1, -1))
