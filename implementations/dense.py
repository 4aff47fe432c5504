"""Attention with the whole matrix at once: two products with a softmax between them.

    a = softmax(scale q k^T + b)        o = a v

(Vaswani et al. 2017, section 3.2.1). In the backward pass, the Jacobian of the softmax is
diag(a) - a a^T. The gradient da of the weights gives the gradient of the scores,

    ds = a (da - <a, da>)

and the gradients of the two products are products, too. Time and memory grow with N M.
"""

from typing import Any

import numpy as np

from implementations.arguments import (
    UNBOUNDED,
    Window,
    accumulator,
    apart,
    capped,
    everywhere,
    factor,
    gathered,
    group,
    laid_out,
    masked,
    mixed,
    nonzero,
    places,
    reference,
    rounded,
    shared,
    sight,
    slanted,
    steep,
    sunk,
    together,
    visible,
)
from implementations.summed import by_sinks, by_slopes, score_gradients
from spec.notation import Array


def attend(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window_size: Window = UNBOUNDED,
    sink_size: int = 0,
    softcap: float | None = None,
    sinks: Array | None = None,
    alibi_slopes: Array | None = None,
    query_segments: Array | None = None,
    key_segments: Array | None = None,
    query_positions: Array | None = None,
    key_positions: Array | None = None,
) -> Array:
    """Return the output of attention, o_i = sum_j a_ij v_j.

    query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).
    attn_mask broadcasts to (B, H, N, M): a bool mask is True where i may attend to j, a float mask
    is added to the scores. is_causal masks keys j > i. window_size (left, right) masks
    j > i + right and j < i - left, except the leading keys j < sink_size; None is no bound. softcap
    c replaces a score s by c tanh(s / c) before anything is added. sinks (H,) are scores in the
    softmax that have no value. alibi_slopes m, (H,) or (B, H), add -m |i - j|. query_segments
    (B, N) and key_segments (B, M) are integers: a query may attend only to keys of its segment, and
    to no key of a negative one. query_positions (B, N) and key_positions (B, M) are integers that
    replace i and j.
    Raises ValueError if H and G differ without enable_gqa, or G does not divide H; if a bound or
    sink_size is negative, or softcap not positive; if sinks are not one number below inf for each
    head, or slopes not finite; if only one of two segments is given; for other shapes or dtypes.
    """
    q, k, v = opened(query, key, value, enable_gqa)
    asked = attn_mask, is_causal, scale, window_size
    of_scores = sink_size, softcap, alibi_slopes, query_segments
    s, seen, _ = scores(q, k, *asked, *of_scores, key_segments, query_positions, key_positions)
    a, _ = softmax(s, beside(sinks, q))
    return rounded(mixed(a, v, seen), query.dtype)


def backward(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    scale: float | None = None,
    enable_gqa: bool = False,
    sinks: Array | None = None,
    dlse: Array | None = None,
    **options: Any,
) -> tuple[Array, Array, Array]:
    """Return the gradients of <dout, o> + <dlse, lse> with respect to query, key and value."""
    q, k, v = opened(query, key, value, enable_gqa)
    s, seen, slope = scores(q, k, scale=scale, **options)
    a, _ = softmax(s, beside(sinks, q))
    do = laid_out(dout, q.dtype)
    ds = score_gradients(a, do, v, seen, dlse) * slope * q.dtype.type(factor(scale, q.shape[-1]))
    R = query.shape[1] // max(key.shape[1], 1)
    dq = mixed(ds, k, seen)
    dk = gathered(ds.swapaxes(-1, -2) @ q, R)
    dv = gathered(a.swapaxes(-1, -2) @ do, R)
    return rounded(dq, query.dtype), rounded(dk, key.dtype), rounded(dv, value.dtype)


def sink_gradient(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    sinks: Array,
    enable_gqa: bool = False,
    dlse: Array | None = None,
    **options: Any,
) -> Array:
    """Return the gradient with respect to the attention sinks, in their dtype.   (H,)"""
    q, k, v = opened(query, key, value, enable_gqa)
    s, seen, _ = scores(q, k, **options)
    t = beside(sinks, q)
    a, logs = softmax(s, t)
    share = np.exp(t[..., 0] - reference(logs))
    return by_sinks(share, laid_out(dout, q.dtype), mixed(a, v, seen), sinks.dtype, dlse)


def slope_gradient(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    alibi_slopes: Array,
    enable_gqa: bool = False,
    sinks: Array | None = None,
    query_positions: Array | None = None,
    key_positions: Array | None = None,
    dlse: Array | None = None,
    **options: Any,
) -> Array:
    """Return the gradient with respect to the ALiBi slopes, in their dtype.   (H,) or (B, H)"""
    q, k, v = opened(query, key, value, enable_gqa)
    at = query_positions, key_positions
    options |= {"query_positions": at[0], "key_positions": at[1]}
    s, seen, _ = scores(q, k, alibi_slopes=alibi_slopes, **options)
    a, _ = softmax(s, beside(sinks, q))
    ds = score_gradients(a, laid_out(dout, q.dtype), v, seen, dlse)
    d = apart(*places(q, k, *at), q.dtype)
    return by_slopes((ds * d).sum(axis=(-2, -1)), alibi_slopes)


def weights(
    query: Array,
    key: Array,
    value: Array,
    enable_gqa: bool = False,
    sinks: Array | None = None,
    **options: Any,
) -> Array:
    """Return a_ij = exp(s_ij) / (exp(t_h) + sum_j exp(s_ij)).   (B, H, N, M)"""
    q, k, _ = opened(query, key, value, enable_gqa)
    a, _ = softmax(scores(q, k, **options)[0], beside(sinks, q))
    return rounded(a, query.dtype)


def lse(
    query: Array,
    key: Array,
    value: Array,
    enable_gqa: bool = False,
    sinks: Array | None = None,
    **options: Any,
) -> Array:
    """Return the log-sum-exp, log (exp(t_h) + sum_j exp(s_ij)), -inf if fully masked.   (B, H, N)

    It has the dtype of the accumulator, and is not rounded to that of the query.
    """
    q, k, _ = opened(query, key, value, enable_gqa)
    return softmax(scores(q, k, **options)[0], beside(sinks, q))[1]


def mask_of_lengths(lengths: Array, M: int) -> Array:
    """Return the mask of padded sequences: True at the first lengths[b] keys.   (B, 1, 1, M)"""
    return (np.arange(M) < lengths[:, None])[:, None, None, :]


def opened(query: Array, key: Array, value: Array, enable_gqa: bool) -> tuple[Array, Array, Array]:
    """Return the inputs in the accumulator dtype, with a key head for every query head."""
    R = group(query.shape[1], key.shape[1], enable_gqa)
    q, k, v = (laid_out(x, accumulator(query.dtype)) for x in (query, key, value))
    return q, shared(k, R), shared(v, R)


def scores(
    q: Array,
    k: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    window_size: Window = UNBOUNDED,
    sink_size: int = 0,
    softcap: float | None = None,
    alibi_slopes: Array | None = None,
    query_segments: Array | None = None,
    key_segments: Array | None = None,
    query_positions: Array | None = None,
    key_positions: Array | None = None,
) -> tuple[Array, Array, Array | float]:
    """Return s_ij = cap(scale <q_i, k_j>) + b_ij - m |i - j|, visible pairs, and cap'."""
    (B, _, N, _), M = q.shape, k.shape[-2]
    i, j = places(q, k, query_positions, key_positions)
    mask, m = everywhere(attn_mask, (*q.shape[:-1], M)), steep(alibi_slopes, q.shape, q.dtype)
    texts = together(query_segments, key_segments, (B, N, M))
    seen = visible(mask, sight(is_causal, window_size, sink_size), i, j, texts)
    with np.errstate(over="ignore", invalid="ignore"):  # a masked key may hold any number
        products = q.dtype.type(factor(scale, q.shape[-1])) * (q @ k.swapaxes(-1, -2))
        s, slope = capped(products, softcap)
        s = slanted(s, m, i, j)
    return masked(s, mask, seen), seen, slope


def beside(sinks: Array | None, q: Array) -> Array:
    """Return the sinks with the axes of the scores, -inf for none.   (H, 1, 1)"""
    return sunk(sinks, q.shape[1], q.dtype)[:, None, None]


def softmax(s: Array, t: Array | float = -np.inf) -> tuple[Array, Array]:
    """Return exp(s_j) / (exp(t) + sum_j exp(s_j)) along the last axis, and the log of that sum.

    The largest of t and the scores is subtracted first, so that no exponential overflows. If every
    score is -inf, the weights are zero and the logarithm is t.
    """
    top = reference(np.maximum(s.max(axis=-1, keepdims=True, initial=-np.inf), t))
    e = np.exp(s - top)
    total = e.sum(axis=-1, keepdims=True) + np.exp(t - top)
    with np.errstate(divide="ignore"):
        lse = top + np.log(total)
    return e / nonzero(total), lse[..., 0]


vars(attend).update(
    backward=backward,
    sink_gradient=sink_gradient,
    slope_gradient=slope_gradient,
    weights=weights,
    lse=lse,
)
