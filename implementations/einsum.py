"""Attention in index notation: each formula sums over the indices that its result does not have.

    s_bgrij = scale q_bgric k_bgjc        o_bgric = a_bgrij v_bgjc

(Vaswani et al. 2017, section 3.2.1). Query head h = g R + r reads key head g (Ainslie et al. 2023,
section 2.2). Grouped heads are one more index, so keys and values are not repeated.
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
    group,
    laid_out,
    masked,
    places,
    reference,
    rounded,
    sight,
    slanted,
    steep,
    sunk,
    together,
    visible,
)
from implementations.dense import softmax
from implementations.summed import by_slopes, less
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
    """Return o_bgric = a_bgrij v_bgjc.

    query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).
    The options and the exceptions are those of `implementations.dense.attend`.
    """
    asked = attn_mask, is_causal, scale, enable_gqa, window_size, sink_size, softcap, alibi_slopes
    of_tokens = query_segments, key_segments, query_positions, key_positions
    s, seen, _ = scores(query, key, *asked, *of_tokens)
    a, _ = softmax(s, beside(sinks, query, key))
    o = np.einsum("bgrij,bgjc->bgric", a, read(value, seen, a.dtype), optimize=True)
    return rounded(o.reshape(*query.shape[:3], value.shape[3]), query.dtype)


def backward(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    scale: float | None = None,
    sinks: Array | None = None,
    dlse: Array | None = None,
    **options: Any,
) -> tuple[Array, Array, Array]:
    """Return the gradients of <dout, o> + <dlse, lse> with respect to query, key and value.

    Each is a product of the forward pass with the indices of two arrays exchanged.
    """
    s, seen, slope = scores(query, key, scale=scale, **options)
    a, _ = softmax(s, beside(sinks, query, key))
    q, do = grouped(query, key.shape[1]), grouped(dout, key.shape[1])
    k, v = (read(x, seen, q.dtype) for x in (key, value))

    ds = (
        score_gradients(a, do, v, seen, dlse) * slope * q.dtype.type(factor(scale, query.shape[-1]))
    )
    dq = np.einsum("bgrij,bgjc->bgric", ds, k, optimize=True).reshape(query.shape)
    dk = np.einsum("bgrij,bgric->bgjc", ds, q, optimize=True)
    dv = np.einsum("bgrij,bgric->bgjc", a, do, optimize=True)
    return rounded(dq, query.dtype), rounded(dk, key.dtype), rounded(dv, value.dtype)


def sink_gradient(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    sinks: Array,
    dlse: Array | None = None,
    **options: Any,
) -> Array:
    """Return the gradient with respect to the attention sinks, in their dtype.   (H,)"""
    s, seen, _ = scores(query, key, **options)
    t = beside(sinks, query, key)
    a, logs = softmax(s, t)
    share = np.exp(t[..., 0] - reference(logs))
    o = np.einsum("bgrij,bgjc->bgric", a, read(value, seen, a.dtype), optimize=True)
    mean = less(np.einsum("bgric,bgric->bgri", grouped(dout, key.shape[1]), o), dlse)
    return rounded(-np.einsum("bgri,bgri->gr", share, mean).reshape(sinks.shape), sinks.dtype)


def slope_gradient(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    alibi_slopes: Array,
    sinks: Array | None = None,
    query_positions: Array | None = None,
    key_positions: Array | None = None,
    dlse: Array | None = None,
    **options: Any,
) -> Array:
    """Return the gradient with respect to the ALiBi slopes, in their dtype.   (H,) or (B, H)"""
    options |= {"query_positions": query_positions, "key_positions": key_positions}
    s, seen, _ = scores(query, key, alibi_slopes=alibi_slopes, **options)
    a, _ = softmax(s, beside(sinks, query, key))
    do, v = grouped(dout, key.shape[1]), read(value, seen, a.dtype)
    ds = score_gradients(a, do, v, seen, dlse)
    d = apart(*standing(query, key, query_positions, key_positions), a.dtype)
    moment = np.einsum("bgrij,bgrij->bgr", ds, np.broadcast_to(d, ds.shape))
    return by_slopes(moment.reshape(query.shape[:2]), alibi_slopes)


def score_gradients(a: Array, do: Array, v: Array, seen: Array, dlse: Array | None) -> Array:
    """Return ds_bgrij = a_bgrij (da_bgrij - sum_j a_bgrij da_bgrij + dlse).

    Here da_bgrij = do_bgric v_bgjc.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # a masked value may hold any number
        da = np.where(seen, np.einsum("bgric,bgjc->bgrij", do, v, optimize=True), 0)
    mean = less(np.einsum("bgrij,bgrij->bgri", a, da), dlse)
    return a * (da - mean[..., None])


def weights(
    query: Array,
    key: Array,
    value: Array,  # noqa: ARG001 - the signature of attend; weights do not depend on values
    sinks: Array | None = None,
    **options: Any,
) -> Array:
    """Return a_ij = exp(s_ij) / (exp(t_h) + sum_j exp(s_ij)).   (B, H, N, M)"""
    a, _ = softmax(scores(query, key, **options)[0], beside(sinks, query, key))
    return rounded(a.reshape(*query.shape[:3], key.shape[2]), query.dtype)


def lse(
    query: Array,
    key: Array,
    value: Array,  # noqa: ARG001 - the signature of attend; scores do not depend on values
    sinks: Array | None = None,
    **options: Any,
) -> Array:
    """Return log (exp(t_h) + sum_j exp(s_ij)), not rounded; -inf if fully masked.   (B, H, N)"""
    _, total = softmax(scores(query, key, **options)[0], beside(sinks, query, key))
    return total.reshape(query.shape[:3])


def grouped(x: Array, G: int) -> Array:
    """Return (B, H, N, C) with grouped heads, (B, G, R, N, C), in the accumulator dtype."""
    B, H, N, C = x.shape
    return laid_out(x, accumulator(x.dtype)).reshape(B, G, H // max(G, 1), N, C)


def beside(sinks: Array | None, query: Array, key: Array) -> Array:
    """Return the sinks with the axes of the scores, -inf for none.   (G, R, 1, 1)"""
    H, G = query.shape[1], key.shape[1]
    return sunk(sinks, H, accumulator(query.dtype)).reshape(G, H // max(G, 1), 1, 1)


def standing(query: Array, key: Array, p: Array | None, r: Array | None) -> tuple[Array, Array]:
    """Return positions with the axes of grouped scores.

    result: (N, 1) and (M,), or (B, 1, 1, N, 1) and (B, 1, 1, 1, M)
    """
    i, j = places(query, key, p, r)
    return (i, j) if i.ndim == 2 else (i[:, None], j[:, None])


def read(x: Array, seen: Array, dtype: np.dtype) -> Array:
    """Return keys or values with zeros where no query may attend to them.

    Such keys may hold NaN, and 0 * NaN is NaN.   x: (B, G, M, C)    seen: (B, G, R, N, M)
    """
    live: Array = np.asarray(seen.any(axis=(2, 3)))
    return laid_out(np.where(live[..., None], x, 0), dtype)


def scores(
    query: Array,
    key: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window_size: Window = UNBOUNDED,
    sink_size: int = 0,
    softcap: float | None = None,
    alibi_slopes: Array | None = None,
    query_segments: Array | None = None,
    key_segments: Array | None = None,
    query_positions: Array | None = None,
    key_positions: Array | None = None,
) -> tuple[Array, Array, Array | float]:
    """Return s_bgrij = cap(scale q_bgric k_bgjc) + b_bgrij - m_bgr |i - j|, visible pairs, cap'."""
    (B, H, N, D), (_, G, M, _) = query.shape, key.shape
    R = group(H, G, enable_gqa)
    mask = everywhere(attn_mask, (B, H, N, M))
    if mask is not None:
        mask = mask.reshape(B, G, R, N, M)
    texts = together(query_segments, key_segments, (B, N, M))
    texts = None if texts is None else texts[:, None]
    q, (i, j) = grouped(query, G), standing(query, key, query_positions, key_positions)
    seen = visible(mask, sight(is_causal, window_size, sink_size), i, j, texts)
    m = steep(alibi_slopes, query.shape, q.dtype)
    m = None if m is None else m.reshape(B, G, R)
    with np.errstate(over="ignore", invalid="ignore"):  # a masked key may hold any number
        products = np.einsum("bgric,bgjc->bgrij", q, laid_out(key, q.dtype), optimize=True)
        products *= q.dtype.type(factor(scale, D))
        s, slope = capped(products, softcap)
        s = slanted(s, m, i, j)
    return masked(s, mask, seen), np.broadcast_to(seen, s.shape), slope


vars(attend).update(
    backward=backward,
    sink_gradient=sink_gradient,
    slope_gradient=slope_gradient,
    weights=weights,
    lse=lse,
)
