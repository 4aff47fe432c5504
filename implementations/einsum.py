"""Attention in index notation: what is summed over is what the output does not name.

    s_bgrij = scale q_bgric k_bgjc        o_bgric = a_bgrij v_bgjc

(Vaswani et al. 2017, section 3.2.1). Query head h = g R + r reads key head g
(Ainslie et al. 2023, section 2.2): sharing is one more letter, and nothing is repeated.
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
    """o_bgric = a_bgrij v_bgjc.

    query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).
    The options are those of `implementations.dense.attend`, which says what each of them means, and
    raises what they raise.
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
    """The derivatives of <dout, o> + <dlse, lse>, shaped like query, key and value.

    Each is the product it comes from with the letters of two arrays exchanged.
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
    """The derivatives by the sinks, in their dtype.   (H,)"""
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
    """The derivatives by the slopes, in their dtype.   (H,) or (B, H)"""
    options |= {"query_positions": query_positions, "key_positions": key_positions}
    s, seen, _ = scores(query, key, alibi_slopes=alibi_slopes, **options)
    a, _ = softmax(s, beside(sinks, query, key))
    do, v = grouped(dout, key.shape[1]), read(value, seen, a.dtype)
    ds = score_gradients(a, do, v, seen, dlse)
    d = apart(*standing(query, key, query_positions, key_positions), a.dtype)
    moment = np.einsum("bgrij,bgrij->bgr", ds, np.broadcast_to(d, ds.shape))
    return by_slopes(moment.reshape(query.shape[:2]), alibi_slopes)


def score_gradients(a: Array, do: Array, v: Array, seen: Array, dlse: Array | None) -> Array:
    """ds_bgrij = a_bgrij (da_bgrij - sum_j a_bgrij da_bgrij + dlse), da_bgrij = do_bgric v_bgjc."""
    with np.errstate(over="ignore", invalid="ignore"):  # a forbidden value may hold anything
        da = np.where(seen, np.einsum("bgric,bgjc->bgrij", do, v, optimize=True), 0)
    mean = less(np.einsum("bgrij,bgrij->bgri", a, da), dlse)
    return a * (da - mean[..., None])


def weights(
    query: Array,
    key: Array,
    value: Array,  # noqa: ARG001 - called like attention, though no weight depends on a value
    sinks: Array | None = None,
    **options: Any,
) -> Array:
    """a_ij = exp(s_ij) / (exp(t_h) + sum_j exp(s_ij)).   (B, H, N, M)"""
    a, _ = softmax(scores(query, key, **options)[0], beside(sinks, query, key))
    return rounded(a.reshape(*query.shape[:3], key.shape[2]), query.dtype)


def lse(
    query: Array,
    key: Array,
    value: Array,  # noqa: ARG001 - called like attention, though no score depends on a value
    sinks: Array | None = None,
    **options: Any,
) -> Array:
    """log (exp(t_h) + sum_j exp(s_ij)), -inf for an idle query, as accumulated.   (B, H, N)"""
    _, total = softmax(scores(query, key, **options)[0], beside(sinks, query, key))
    return total.reshape(query.shape[:3])


def grouped(x: Array, G: int) -> Array:
    """(B, H, N, C) with the heads in groups, (B, G, R, N, C), in the accumulator's format."""
    B, H, N, C = x.shape
    return laid_out(x, accumulator(x.dtype)).reshape(B, G, H // max(G, 1), N, C)


def beside(sinks: Array | None, query: Array, key: Array) -> Array:
    """The sinks as they stand beside the scores, -inf for none.   (G, R, 1, 1)"""
    H, G = query.shape[1], key.shape[1]
    return sunk(sinks, H, accumulator(query.dtype)).reshape(G, H // max(G, 1), 1, 1)


def standing(query: Array, key: Array, p: Array | None, r: Array | None) -> tuple[Array, Array]:
    """`places` of scores in groups.   (N, 1) and (M,), or (B, 1, 1, N, 1) and (B, 1, 1, 1, M)"""
    i, j = places(query, key, p, r)
    return (i, j) if i.ndim == 2 else (i[:, None], j[:, None])


def read(x: Array, seen: Array, dtype: np.dtype) -> Array:
    """Keys or values, zero if no query sees them: they may hold NaN, and 0 * NaN is NaN.

    x: (B, G, M, C)    seen: (B, G, R, N, M)
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
    """s_bgrij = cap(scale q_bgric k_bgjc) + b_bgrij - m_bgr |i - j|, where seen, and cap'."""
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
    with np.errstate(over="ignore", invalid="ignore"):  # a forbidden key may hold anything
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
