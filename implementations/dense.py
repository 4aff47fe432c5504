"""The whole matrix at once: attention as two products with a softmax between them.

    a = softmax(scale q k^T + b)        o = a v

(Vaswani et al. 2017, section 3.2.1). Backward, softmax has the Jacobian
diag(a) - a a^T, so that a derivative da by the weights becomes

    ds = a (da - <a, da>)

by the scores; the products are differentiated as products are. Time and memory grow with N M.
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
    """o_i = sum_j a_ij v_j.

    query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).
    attn_mask broadcasts to (B, H, N, M): bool, True where i may attend to j, or a float that is
    added to the scores. is_causal also forbids j > i, and window_size (left, right) all j with
    j > i + right or j < i - left, None being no bound; no left bound hides j < sink_size.
    softcap c makes c tanh(s / c) of a score s before anything is added. sinks (H,) are scores
    that take their part of the weights and have no value. alibi_slopes m, (H,) or (B, H), add
    -m |i - j|. query_segments (B, N) and key_segments (B, M) are integers: a query sees the keys
    of its own segment, and nobody those of a negative one. query_positions (B, N) and
    key_positions (B, M) are integers that take the place of i and j.
    Raises ValueError: H and G differ without enable_gqa, or G does not divide H; a bound or number
    of keys < 0, a cap that is not positive, sinks that are no number below inf for each head, or
    slopes that are not finite; segments of one side alone; any of another shape or kind.
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
    """The derivatives of <dout, o> + <dlse, lse>, shaped like query, key and value."""
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
    """The derivatives by the sinks, in their dtype.   (H,)"""
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
    """The derivatives by the slopes, in their dtype.   (H,) or (B, H)"""
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
    """a_ij = exp(s_ij) / (exp(t_h) + sum_j exp(s_ij)).   (B, H, N, M)"""
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
    """log (exp(t_h) + sum_j exp(s_ij)), -inf for an idle query, as accumulated.   (B, H, N)"""
    q, k, _ = opened(query, key, value, enable_gqa)
    return softmax(scores(q, k, **options)[0], beside(sinks, q))[1]


def mask_of_lengths(lengths: Array, M: int) -> Array:
    """The mask of padded sequences: True at the first lengths[b] keys.   (B,) to (B, 1, 1, M)"""
    return (np.arange(M) < lengths[:, None])[:, None, None, :]


def opened(query: Array, key: Array, value: Array, enable_gqa: bool) -> tuple[Array, Array, Array]:
    """The inputs in the accumulator's format, with a key head for every query head."""
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
    """s_ij = cap(scale <q_i, k_j>) + b_ij - m |i - j|; where it is not hidden, i.e. -inf; cap'."""
    (B, _, N, _), M = q.shape, k.shape[-2]
    i, j = places(q, k, query_positions, key_positions)
    mask, m = everywhere(attn_mask, (*q.shape[:-1], M)), steep(alibi_slopes, q.shape, q.dtype)
    texts = together(query_segments, key_segments, (B, N, M))
    seen = visible(mask, sight(is_causal, window_size, sink_size), i, j, texts)
    with np.errstate(over="ignore", invalid="ignore"):  # a forbidden key may hold anything
        products = q.dtype.type(factor(scale, q.shape[-1])) * (q @ k.swapaxes(-1, -2))
        s, slope = capped(products, softcap)
        s = slanted(s, m, i, j)
    return masked(s, mask, seen), seen, slope


def beside(sinks: Array | None, q: Array) -> Array:
    """The sinks as they stand beside the scores, -inf for none.   (H, 1, 1)"""
    return sunk(sinks, q.shape[1], q.dtype)[:, None, None]


def softmax(s: Array, t: Array | float = -np.inf) -> tuple[Array, Array]:
    """exp(s_j) / (exp(t) + sum_j exp(s_j)) along the last axis, and the log of that sum.

    The largest score is subtracted first, be it t, so that no exponential overflows. Where
    every score is -inf the weights are zero and the logarithm is t.
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
