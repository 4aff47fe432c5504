"""Attention index by index: the sums of the formulas are Python loops.

    s_ij = scale sum_c q_ic k_jc + b_ij - m_h |i - j|
    a_ij = exp(s_ij - m_i) / (exp(t_h - m_i) + sum_j exp(s_ij - m_i))    m_i = max(t_h, max_j s_ij)
    o_ic = sum_j a_ij v_jc

(Vaswani et al. 2017, section 3.2.1). The sums over j run over the keys that i may attend to; masked
keys are never read. Everything is computed in Python floats (double precision) and rounded once at
the end.
"""

from math import exp, inf, log, tanh
from typing import Any

import numpy as np

from implementations import arguments
from implementations.arguments import UNBOUNDED, Window, places, positive, sight, steep, sunk
from spec.notation import Array

DOUBLE = np.dtype(np.float64)
Row = dict[int, float]  # a number for each key that a query may attend to


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
    """Return o_ic = sum_j a_ij v_jc.

    query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).
    The options and the exceptions are those of `implementations.dense.attend`.
    """
    out = np.zeros((*query.shape[:3], value.shape[3]))
    v, t = value.tolist(), sunk(sinks, query.shape[1], DOUBLE).tolist()
    asked = attn_mask, is_causal, scale, enable_gqa, window_size, sink_size, softcap, alibi_slopes
    of_tokens = query_segments, key_segments, query_positions, key_positions
    scored = scores(query, key, *asked, *of_tokens)
    for (b, h, i), s in scored.items():
        a, g = softmax(s, t[h]), h * key.shape[1] // query.shape[1]
        for c in range(value.shape[3]):
            out[b, h, i, c] = sum(a[j] * v[b][g][j][c] for j in a)
    return out.astype(query.dtype)


def backward(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: Array | None = None,
    dlse: Array | None = None,
    **options: Any,
) -> tuple[Array, Array, Array]:
    """Return the gradients of <dout, o> + <dlse, lse> with respect to query, key and value."""
    dq, dk, dv = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    D, E, sink = query.shape[3], value.shape[3], sunk(sinks, query.shape[1], DOUBLE).tolist()
    sigma = arguments.factor(scale, D)
    q, k, v, do = query.tolist(), key.tolist(), value.tolist(), dout.tolist()
    scored = scores(query, key, scale=scale, softcap=softcap, **options)
    alone: dict[str, Any] = {"attn_mask": None, "alibi_slopes": None}
    products = scores(query, key, scale=scale, **options | alone)
    for (b, h, i), s in scored.items():
        a, g = softmax(s, sink[h]), h * key.shape[1] // query.shape[1]
        ds = score_gradients(a, do[b][h][i], v[b][g], 0.0 if dlse is None else dlse[b, h, i])
        t = dict.fromkeys(a, 0.0) if softcap is None else products[b, h, i]
        for j in a:
            dt = ds[j] * slope(t[j], softcap)
            for c in range(D):
                dq[b, h, i, c] += sigma * dt * k[b][g][j][c]
                dk[b, g, j, c] += sigma * dt * q[b][h][i][c]
            for c in range(E):
                dv[b, g, j, c] += a[j] * do[b][h][i][c]
    with np.errstate(over="ignore"):  # a gradient may be too large for float16
        return dq.astype(query.dtype), dk.astype(key.dtype), dv.astype(value.dtype)


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
    dt = np.zeros(sinks.shape)
    t, v, do = sunk(sinks, query.shape[1], DOUBLE).tolist(), value.tolist(), dout.tolist()
    for (b, h, i), s in scores(query, key, **options).items():
        a, g, total = softmax(s, t[h]), h * key.shape[1] // query.shape[1], log_sum(s, t[h])
        for j in a:
            da = sum(do[b][h][i][c] * v[b][g][j][c] for c in range(value.shape[3]))
            dt[h] -= exp(t[h] - total) * a[j] * da
        if dlse is not None and total > -inf:
            dt[h] += exp(t[h] - total) * float(dlse[b, h, i])
    return dt.astype(sinks.dtype)


def slope_gradient(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    alibi_slopes: Array,
    sinks: Array | None = None,
    dlse: Array | None = None,
    **options: Any,
) -> Array:
    """Return the gradient with respect to the ALiBi slopes, in their dtype.   (H,) or (B, H)"""
    dm, t = np.zeros(query.shape[:2]), sunk(sinks, query.shape[1], DOUBLE).tolist()
    at = (options.get(x) for x in ("query_positions", "key_positions"))
    d = abs(ahead(query, key, *at))
    for (b, h, i), s in scores(query, key, alibi_slopes=alibi_slopes, **options).items():
        v = value[b, h * key.shape[1] // query.shape[1]].tolist()
        own = 0.0 if dlse is None else dlse[b, h, i]
        ds = score_gradients(softmax(s, t[h]), dout[b, h, i].tolist(), v, own)
        dm[b, h] -= sum(ds[j] * int(d[b, i, j]) for j in ds)
    return (dm if alibi_slopes.ndim == 2 else dm.sum(axis=0)).astype(alibi_slopes.dtype)


def weights(
    query: Array,
    key: Array,
    value: Array,  # noqa: ARG001 - the signature of attend; weights do not depend on values
    sinks: Array | None = None,
    **options: Any,
) -> Array:
    """Return a_ij = exp(s_ij) / (exp(t_h) + sum_j exp(s_ij)).   (B, H, N, M)"""
    out = np.zeros((*query.shape[:3], key.shape[2]))
    scored, t = scores(query, key, **options), sunk(sinks, query.shape[1], DOUBLE).tolist()
    for (b, h, i), s in scored.items():
        for j, a in softmax(s, t[h]).items():
            out[b, h, i, j] = a
    return out.astype(query.dtype)


def lse(
    query: Array,
    key: Array,
    value: Array,  # noqa: ARG001 - the signature of attend; scores do not depend on values
    sinks: Array | None = None,
    **options: Any,
) -> Array:
    """Return log (exp(t_h) + sum_j exp(s_ij)) in float64; -inf if fully masked.   (B, H, N)"""
    out, t = np.zeros(query.shape[:3]), sunk(sinks, query.shape[1], DOUBLE).tolist()
    for (b, h, i), s in scores(query, key, **options).items():
        out[b, h, i] = log_sum(s, t[h])
    return out


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
) -> dict[tuple[int, ...], Row]:
    """Return, for each (b, h, i), the scores s_ij of the keys j that query i may attend to."""
    (B, H, N, D), (_, G, M, _) = query.shape, key.shape
    R, sigma = arguments.group(H, G, enable_gqa), arguments.factor(scale, D)
    q, k, m = query.tolist(), key.tolist(), steep(alibi_slopes, (B, H), DOUBLE)
    slopes = (np.zeros((B, H)) if m is None else m).tolist()
    *bounds, first = sight(is_causal, window_size, sink_size)
    left, right = (inf if x is None else x for x in bounds)
    mask = np.broadcast_to(np.True_ if attn_mask is None else attn_mask, (B, H, N, M))
    b_ij = np.where(mask, 0.0, -inf) if mask.dtype == bool else mask
    pair = arguments.labelled(query_segments, key_segments, (B, N, M))
    mine, theirs = (x.tolist() for x in pair or (np.zeros((B, N)), np.zeros((B, M))))
    away = ahead(query, key, query_positions, key_positions).tolist()
    _, r = places(query, key, None, key_positions)
    kept = np.broadcast_to((r < first) & (first > 0), (B, 1, 1, M)).reshape(B, M).tolist()
    scored: dict[tuple[int, ...], Row] = {place: {} for place in np.ndindex(B, H, N)}
    for (b, h, i), row in scored.items():
        for j, d in enumerate(away[b][i]):
            bias, together = float(b_ij[b, h, i, j]), mine[b][i] == theirs[b][j] >= 0
            near = d <= right and (d >= -left or kept[b][j])
            if bias == -inf or not (together and near):
                continue
            product: Any = sum(q[b][h][i][c] * k[b][h // R][j][c] for c in range(D))
            row[j] = capped(sigma * product, softcap) + bias - slopes[b][h] * abs(d)
    return scored


def capped(t: float, softcap: float | None) -> float:
    """Return c tanh(t / c), or t without a soft-cap c."""
    return t if softcap is None else positive(softcap) * tanh(t / softcap)


def slope(t: float, softcap: float | None) -> float:
    """Return the derivative of `capped` with respect to t."""
    return 1.0 if softcap is None else 1 - tanh(t / softcap) ** 2


def ahead(query: Array, key: Array, p: Array | None, r: Array | None) -> Array:
    """Return j - i, the distance of key j ahead of query i, by positions or rows.   (B, N, M)"""
    i, j = places(query, key, p, r)
    return np.broadcast_to(j - i, (len(query), 1, query.shape[2], key.shape[2]))[:, 0]


def softmax(s: Row, t: float) -> Row:
    """Return exp(s_j) / (exp(t) + sum_j exp(s_j)) for each key j, computed without overflow."""
    top = max([*s.values(), t])
    e = {j: exp(x - top) for j, x in s.items()}
    total = sum(e.values()) + exp(t - top) if s else 1.0
    return {j: x / total for j, x in e.items()}


def log_sum(s: Row, t: float) -> float:
    """Return log (exp(t) + sum_j exp(s_j)), or t without keys."""
    top = max([*s.values(), t])
    return top + log(sum(exp(x - top) for x in [*s.values(), t])) if s else t


def score_gradients(a: Row, do: list[float], v: list[list[float]], dlse: float = 0.0) -> Row:
    """Return ds_j = a_j (da_j - sum_j a_j da_j + dlse), with da_j = <do, v_j>."""
    da = {j: sum(x * y for x, y in zip(do, v[j], strict=True)) for j in a}
    mean = sum(a[j] * da[j] for j in a)
    return {j: a[j] * (da[j] - mean + float(dlse)) for j in a}


BESIDE = (backward, sink_gradient, slope_gradient, weights, lse)
vars(attend).update({function.__name__: function for function in BESIDE})
