"""Attention as a list of heads: each is computed alone, and the results are stacked.

This is the textbook picture of multi-head attention: split into heads, compute each with
two-dimensional arrays, and combine the results (Vaswani et al. 2017, section 3.2.2). Inside a head
there is no batch axis and no broadcasting, so each line is the formula for one head.
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
    group,
    laid_out,
    masked,
    mixed,
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
from implementations.summed import by_slopes, row_terms, score_gradients, there
from spec.notation import Array

Asked = dict[str, Any]  # options of `head_weights`: positions, sink, slope, mask, segments, others


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
    """Return o_i = sum_j a_ij v_j, computed head by head.

    query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).
    The options and the exceptions are those of `implementations.dense.attend`.
    """
    asked = enable_gqa, attn_mask, sinks, alibi_slopes, query_segments, key_segments
    at = query_positions, key_positions
    alike: Asked = {
        "is_causal": is_causal,
        "scale": scale,
        "window_size": window_size,
        "sink_size": sink_size,
        "softcap": softcap,
    }
    outputs = []
    for q, k, v, own in heads(query, key, value, *asked, *at, **alike):
        a, seen, _, _ = head_weights(q, k, **own)
        outputs.append(mixed(a, v, seen))
    return stacked(outputs, query, value.shape[-1])


def backward(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    scale: float | None = None,
    enable_gqa: bool = False,
    dlse: Array | None = None,
    **options: Any,
) -> tuple[Array, Array, Array]:
    """Return the gradients of <dout, o> + <dlse, lse> with respect to query, key and value."""
    work = accumulator(query.dtype)
    dq, dk, dv = (np.zeros(x.shape, work) for x in (query, key, value))
    R = group(query.shape[1], key.shape[1], enable_gqa)
    sigma = work.type(factor(scale, query.shape[-1]))
    lists = heads(query, key, value, enable_gqa, scale=scale, **options)
    for (b, h), (q, k, v, own) in zip(np.ndindex(query.shape[:2]), lists, strict=True):
        a, seen, slope, _ = head_weights(q, k, **own)
        do = laid_out(dout[b, h], work)
        ds = score_gradients(a, do, v, seen, there(dlse, (b, h))) * slope
        dq[b, h] = sigma * mixed(ds, k, seen)
        dk[b, h // R] += sigma * (ds.T @ q)
        dv[b, h // R] += a.T @ do
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
    dt = np.zeros(sinks.shape, accumulator(query.dtype))
    lists = heads(query, key, value, sinks=sinks, **options)
    for (b, h), (q, k, v, own) in zip(np.ndindex(query.shape[:2]), lists, strict=True):
        a, seen, _, lse = head_weights(q, k, **own)
        share = np.exp(own["t"] - reference(lse))
        do, dl = laid_out(dout[b, h], q.dtype), there(dlse, (b, h))
        dt[h] -= share @ row_terms(do, mixed(a, v, seen), dl)
    return rounded(dt, sinks.dtype)


def slope_gradient(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    alibi_slopes: Array,
    query_positions: Array | None = None,
    key_positions: Array | None = None,
    dlse: Array | None = None,
    **options: Any,
) -> Array:
    """Return the gradient with respect to the ALiBi slopes, in their dtype.   (H,) or (B, H)"""
    work = accumulator(query.dtype)
    moment = np.zeros(query.shape[:2], work)
    at = query_positions, key_positions
    d = np.broadcast_to(apart(*places(query, key, *at), work), (*query.shape[:3], key.shape[2]))
    options |= {"query_positions": at[0], "key_positions": at[1]}
    lists = heads(query, key, value, alibi_slopes=alibi_slopes, **options)
    for (b, h), (q, k, v, own) in zip(np.ndindex(query.shape[:2]), lists, strict=True):
        a, seen, _, _ = head_weights(q, k, **own)
        do, dl = laid_out(dout[b, h], work), there(dlse, (b, h))
        moment[b, h] = (d[b, h] * score_gradients(a, do, v, seen, dl)).sum()
    return by_slopes(moment, alibi_slopes)


def weights(query: Array, key: Array, value: Array, **options: Any) -> Array:
    """Return a_ij = exp(s_ij) / (exp(t) + sum_j exp(s_ij)), head by head.   (B, H, N, M)"""
    lists = heads(query, key, value, **options)
    matrices = [head_weights(q, k, **own)[0] for q, k, _, own in lists]
    return stacked(matrices, query, key.shape[-2])


def heads(
    query: Array,
    key: Array,
    value: Array,
    enable_gqa: bool = False,
    attn_mask: Array | None = None,
    sinks: Array | None = None,
    alibi_slopes: Array | None = None,
    query_segments: Array | None = None,
    key_segments: Array | None = None,
    query_positions: Array | None = None,
    key_positions: Array | None = None,
    **alike: Any,
) -> Iterator[tuple[Array, Array, Array, Asked]]:
    """Yield q (N, D), k (M, D), v (M, E) and the options of each head of each batch element.

    alike: options that are the same for all heads
    """
    (B, H, N, _), (_, G, M, _) = query.shape, key.shape
    R, work, shape = group(H, G, enable_gqa), accumulator(query.dtype), (B, H, N, M)
    mask = everywhere(attn_mask, shape)
    texts = everywhere(together(query_segments, key_segments, (B, N, M)), shape)
    t, m = sunk(sinks, H, work), steep(alibi_slopes, query.shape, work)
    i, j = places(query, key, query_positions, key_positions)
    i, j = np.broadcast_to(i, (B, 1, N, 1))[:, 0], np.broadcast_to(j, (B, 1, 1, M))[:, 0]
    for b, h in np.ndindex(B, H):
        matrices = (query[b, h], key[b, h // R], value[b, h // R])
        q, k, v = (laid_out(x, work) for x in matrices)
        own = {"m": m, "mask": mask, "texts": texts}
        own = {name: None if x is None else x[b, h] for name, x in own.items()}
        yield q, k, v, {"i": i[b], "j": j[b], "t": t[h], **own, **alike}


def head_weights(
    q: Array,
    k: Array,
    i: Array,
    j: Array,
    t: Array,
    m: Array | None,
    mask: Array | None,
    texts: Array | None,
    is_causal: bool = False,
    scale: float | None = None,
    window_size: Window = UNBOUNDED,
    sink_size: int = 0,
    softcap: float | None = None,
) -> tuple[Array, Array, Array | float, Array]:
    """Return the weights of one head, where they may be nonzero, cap' (N, M), and lse (N,).

    i, j: (N, 1) and (1, M)    t, m: sink and slope of the head    mask, texts: (N, M) or None
    """
    seen = visible(mask, sight(is_causal, window_size, sink_size), i, j, texts)
    with np.errstate(over="ignore", invalid="ignore"):  # a masked key may hold any number
        s, slope = capped(q.dtype.type(factor(scale, q.shape[-1])) * (q @ k.T), softcap)
        s = slanted(s, m, i, j)
    a, lse = softmax(masked(s, mask, seen), t)
    return a, seen, slope, lse


def stacked(matrices: list[Array], query: Array, width: int) -> Array:
    """Return a list of matrices, one for each batch element and head, as (B, H, N, width)."""
    B, H, N = query.shape[:3]
    whole = np.stack(matrices) if matrices else np.zeros((0, N, width))
    return rounded(whole.reshape(B, H, N, width), query.dtype)


vars(attend).update(
    backward=backward, sink_gradient=sink_gradient, slope_gradient=slope_gradient, weights=weights
)
