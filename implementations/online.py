"""Attention with a softmax in one pass: the keys arrive one at a time, and no score is stored.

The state after some keys is the largest score m, the total t of exp(s_ij - m), and the output o,
not yet divided by t. If a new key raises m, the state is scaled by exp(m - m') <= 1:

    m' = max(m, s)
    t' = t exp(m - m') + exp(s - m')
    o' = o exp(m - m') + exp(s - m') v

With an attention sink, the state before the first key is m = t_h, t = 1, o = 0. (Milakov and
Gimelshein 2018, section 3, for m and t; Rabe and Staats 2021 for o.) The backward pass computes the
weights again from the log-sum-exp, exp(s_ij - lse_i), also one key at a time (Dao et al. 2022,
section 3.1).
"""

from collections.abc import Iterator
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
from implementations.summed import by_sinks, by_slopes, row_terms
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
    """Return o_i = sum_j a_ij v_j, computed one key at a time.

    query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).
    The options and the exceptions are those of `implementations.dense.attend`.
    """
    o, _ = passed(
        query,
        key,
        value,
        enable_gqa,
        attn_mask=attn_mask,
        is_causal=is_causal,
        scale=scale,
        window_size=window_size,
        sink_size=sink_size,
        softcap=softcap,
        sinks=sinks,
        alibi_slopes=alibi_slopes,
        query_segments=query_segments,
        key_segments=key_segments,
        query_positions=query_positions,
        key_positions=key_positions,
    )
    return rounded(o, query.dtype)


def lse(query: Array, key: Array, value: Array, **options: Any) -> Array:
    """Return log (exp(t_h) + sum_j exp(s_ij)), not rounded; -inf if fully masked.   (B, H, N)"""
    return passed(query, key, value, **options)[1]


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
    """Return the gradients of <dout, o> + <dlse, lse> with respect to query, key and value.

    sum_j a_ij da_ij is <dout_i, o_i>, so no additional pass over the keys is needed.
    """
    o, logs = passed(query, key, value, enable_gqa, sinks, scale=scale, **options)
    q, do = laid_out(query, o.dtype), laid_out(dout, o.dtype)
    sigma, finite = o.dtype.type(factor(scale, q.shape[-1])), reference(logs)
    R = group(query.shape[1], key.shape[1], enable_gqa)
    dq, dk, dv = (np.zeros(x.shape, o.dtype) for x in (query, key, value))
    mean = row_terms(do, o, dlse)
    for j, s, slope, k, v in one_by_one(query, key, value, R, scale=scale, **options):
        a = np.exp(s - finite)
        ds = sigma * a * ((do * v).sum(axis=-1) - mean) * slope
        dq += ds[..., None] * k
        dk[:, :, j] = gathered((ds[..., None] * q).sum(axis=-2), R)
        dv[:, :, j] = gathered((a[..., None] * do).sum(axis=-2), R)
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
    """Return the gradient with respect to the sinks, in their dtype, from o and lse only.   (H,)"""
    o, logs = passed(query, key, value, sinks=sinks, **options)
    t = sunk(sinks, query.shape[1], o.dtype)
    share = np.exp(t[:, None] - reference(logs))
    return by_sinks(share, laid_out(dout, o.dtype), o, sinks.dtype, dlse)


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
    options |= {"query_positions": query_positions, "key_positions": key_positions}
    options["alibi_slopes"] = alibi_slopes
    o, logs = passed(query, key, value, enable_gqa, sinks, **options)
    do, finite = laid_out(dout, o.dtype), reference(logs)
    p, r = places(query, key, query_positions, key_positions)
    R, moment = group(query.shape[1], key.shape[1], enable_gqa), np.zeros(query.shape[:2], o.dtype)
    mean = row_terms(do, o, dlse)
    for j, s, _, _, v in one_by_one(query, key, value, R, **options):
        ds = np.exp(s - finite) * ((do * v).sum(axis=-1) - mean)
        moment += (ds * apart(p[..., 0], r[..., j], o.dtype)).sum(axis=-1)
    return by_slopes(moment, alibi_slopes)


def passed(
    query: Array,
    key: Array,
    value: Array,
    enable_gqa: bool = False,
    sinks: Array | None = None,
    **options: Any,
) -> tuple[Array, Array]:
    """Return the output (B, H, N, E) and the log-sum-exp (B, H, N) after one pass over the keys."""
    rows, work = query.shape[:3], accumulator(query.dtype)
    R = group(query.shape[1], key.shape[1], enable_gqa)
    m = np.full(rows, sunk(sinks, query.shape[1], work)[:, None], work)
    t = np.exp(m - reference(m))
    o = np.zeros((*rows, value.shape[-1]), work)
    for _, s, _, _, v in one_by_one(query, key, value, R, **options):
        top = np.maximum(m, s)
        fade, e = np.exp(m - reference(top)), np.exp(s - reference(top))
        t = t * fade + e
        o = o * fade[..., None] + e[..., None] * v
        m = top
    with np.errstate(divide="ignore"):
        logs = reference(m) + np.log(t)
    return o / nonzero(t)[..., None], logs


def one_by_one(
    query: Array,
    key: Array,
    value: Array,
    R: int,
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
) -> Iterator[tuple[int, Array, Array | float, Array, Array]]:
    """Yield for each key its index j, its scores, cap', and key and value as each query reads them.

    s, cap': (B, H, N)    k: (B, H, N, D)    v: (B, H, N, E); masked keys and values are zero
    """
    q = laid_out(query, accumulator(query.dtype))
    q = q.dtype.type(factor(scale, q.shape[-1])) * q
    p, r = places(query, key, query_positions, key_positions)
    i, M = p[..., 0], key.shape[2]
    window, m = sight(is_causal, window_size, sink_size), steep(alibi_slopes, query.shape, q.dtype)
    masks = everywhere(attn_mask, (*query.shape[:3], M))
    texts = together(query_segments, key_segments, (len(q), q.shape[2], M))
    for j in range(M):
        mask = None if masks is None else masks[..., j]
        own = None if texts is None else texts[..., j]
        seen = visible(mask, window, i, r[..., j], own)
        read = np.broadcast_to(seen, query.shape[:3])[..., None]
        pair = (np.where(read, shared(x[:, :, [j]], R), 0) for x in (key, value))
        k, v = (laid_out(x, q.dtype) for x in pair)
        s, slope = capped((q * k).sum(axis=-1), softcap)
        yield j, masked(slanted(s, m, i, r[..., j]), mask, seen), slope, k, v


vars(attend).update(
    backward=backward, sink_gradient=sink_gradient, slope_gradient=slope_gradient, lse=lse
)
