"""Tile by tile: neither scores nor weights ever exist as a whole.

For a block of queries the keys pass by in blocks, and the output so far is rescaled
when the largest score rises (Dao et al. 2022, algorithm 1; the recurrence is that of
`implementations.online`, over blocks). Backward, the weights of a tile are computed
again instead of stored. With the largest score m_i and the total t_i of the forward
pass, and e_ij = exp(s_ij - m_i), the softmax needs no division inside a tile:

    dv_j = sum_i e_ij (dout_i / t_i)
    dk_j = scale sum_i z_ij (q_i / t_i)      z_ij = e_ij (<dout_i, v_j> - <dout_i, o_i>)
    dq_i = scale / t_i sum_j z_ij k_j

Flash kernels keep m + log t instead; kept apart they lose nothing when m is large.
A sink is there before the first tile: m_i = t_h and the total is 1, with no output.
Tiles are (keys, queries): NumPy takes the maximum down a column fastest.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from implementations.arguments import (
    UNBOUNDED,
    Window,
    accumulator,
    at_once,
    blocks,
    by_sinks,
    capped,
    cut,
    everywhere,
    factor,
    group,
    laid_out,
    mixed,
    nonzero,
    reference,
    rounded,
    sight,
    sunk,
    visible,
    within_sight,
)
from spec.notation import Array

QUERIES, KEYS = 256, 512  # a float32 tile of half a megabyte stays in the second-level cache
Tile = tuple[slice, Array, Array | None, Array | float]


def attend(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window_size: Window = UNBOUNDED,
    softcap: float | None = None,
    sinks: Array | None = None,
) -> Array:
    """o_i = sum_j a_ij v_j in memory that does not grow with N M.

    query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).
    attn_mask broadcasts to (B, H, N, M): bool, True where i may attend to j, or a
    float that is added to the scores. is_causal also forbids j > i, and window_size
    (left, right) all j < i - left and j > i + right, None being no bound. softcap c makes
    c tanh(s / c) of a score s before anything is added. sinks (H,) are scores that take their
    part of the weights and have no value.
    Raises ValueError: H and G differ without enable_gqa, or G does not divide H; a bound < 0,
    a cap that is not positive, or sinks that are no number below inf for each head.
    """
    window = sight(is_causal, window_size)
    o, _, _ = passed(query, key, value, window, attn_mask, scale, enable_gqa, softcap, sinks)
    return rounded(o, query.dtype)


def lse(
    query: Array,
    key: Array,
    value: Array,
    is_causal: bool = False,
    window_size: Window = UNBOUNDED,
    **options: Any,
) -> Array:
    """log (exp(t_h) + sum_j exp(s_ij)), -inf for an idle query, as accumulated.   (B, H, N)"""
    _, m, t = passed(query, key, value, sight(is_causal, window_size), **options)
    with np.errstate(divide="ignore"):
        return reference(m) + np.log(t)


def backward(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window_size: Window = UNBOUNDED,
    softcap: float | None = None,
    sinks: Array | None = None,
) -> tuple[Array, Array, Array]:
    """The derivatives of <dout, o>, shaped like query, key and value."""
    window = sight(is_causal, window_size)
    o, m, t = passed(query, key, value, window, attn_mask, scale, enable_gqa, softcap, sinks)
    dq, dk, dv = (np.zeros(x.shape, o.dtype) for x in (query, key, value))
    sigma = o.dtype.type(factor(scale, query.shape[-1]))
    mask = everywhere(attn_mask, (*query.shape[:3], key.shape[2]))
    for b, h, g, k, v in heads(query, key, value, enable_gqa):
        for rows in blocks(slice(0, query.shape[2]), at_once(window, QUERIES)):
            at = (b, h, rows)
            q, do = sigma * laid_out(query[at], o.dtype), laid_out(dout[at], o.dtype)
            mean, share = (do * o[at]).sum(axis=-1), (1 / nonzero(t[at]))[:, None]
            part = None if mask is None else mask[at]
            for cols, e, seen, slope in tiles(q, k, part, window, rows, softcap):
                exponentials(e, m[at])
                z = weighted(e, do, v[cols], mean, seen)
                if softcap is not None:
                    z *= slope
                dq[at] += mixed(z.T, k[cols], seen)
                dk[b, g, cols] += z @ (q * share)
                dv[b, g, cols] += e @ (do * share)
            dq[at] *= sigma * share
    return rounded(dq, query.dtype), rounded(dk, key.dtype), rounded(dv, value.dtype)


def sink_gradient(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    sinks: Array,
    is_causal: bool = False,
    window_size: Window = UNBOUNDED,
    **options: Any,
) -> Array:
    """The derivatives of <dout, o> by the sinks, in their dtype, from o, m and t alone.   (H,)"""
    window = sight(is_causal, window_size)
    o, m, t = passed(query, key, value, window, sinks=sinks, **options)
    share = np.exp(sunk(sinks, query.shape[1], o.dtype)[:, None] - reference(m)) / nonzero(t)
    return by_sinks(share, laid_out(dout, o.dtype), o, sinks.dtype)


def passed(
    query: Array,
    key: Array,
    value: Array,
    window: Window,
    attn_mask: Array | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    softcap: float | None = None,
    sinks: Array | None = None,
) -> tuple[Array, Array, Array]:
    """Output (B, H, N, E), largest score m and total t (B, H, N), all as accumulated."""
    (*shape, N, D), work = query.shape, accumulator(query.dtype)
    o = np.zeros((*shape, N, value.shape[-1]), work)
    m = np.full((*shape, N), sunk(sinks, query.shape[1], work)[:, None], work)
    t = np.exp(m - reference(m))
    mask = everywhere(attn_mask, (*shape, N, key.shape[2]))
    for b, h, _, k, v in heads(query, key, value, enable_gqa):
        for rows in blocks(slice(0, N), at_once(window, QUERIES)):
            at = (b, h, rows)
            q = work.type(factor(scale, D)) * laid_out(query[at], work)
            part = None if mask is None else mask[at]
            for cols, s, seen, _ in tiles(q, k, part, window, rows, softcap):
                absorb(s, v[cols], seen, o[at], m[at], t[at])
            o[at] /= nonzero(t[at])[:, None]
    return o, m, t


def absorb(s: Array, v: Array, seen: Array | None, o: Array, m: Array, t: Array) -> None:
    """Add the keys of one tile to the output o, the largest score m and the total t, in place.

    s: (keys, n), overwritten    v: (keys, E)    o: (n, E)    m, t: (n,)
    """
    top = np.maximum(m, s.max(axis=0))
    if (top != m).any():
        fade = np.exp(m - reference(top))
        o *= fade[:, None]
        t *= fade
        m[:] = top
    exponentials(s, m)
    t += s.sum(axis=0)
    o += mixed(s.T, v, seen)


def exponentials(s: Array, m: Array) -> None:
    """exp(s_ij - m_i), in place.   s: (keys, n)    m: (n,)"""
    np.subtract(s, reference(m), out=s)
    np.exp(s, out=s)


def weighted(e: Array, do: Array, v: Array, mean: Array, seen: Array | None) -> Array:
    """z_ij = e_ij (<dout_i, v_j> - mean_i).   (keys, n)"""
    with np.errstate(over="ignore", invalid="ignore"):  # a forbidden value may hold anything
        z: Array = v @ do.T
    if seen is not None:
        np.copyto(z, 0, where=~seen.T)
    z -= mean
    z *= e
    return z


def tiles(
    q: Array, k: Array, mask: Array | None, window: Window, rows: slice, softcap: float | None
) -> Iterator[Tile]:
    """The tiles a block of queries sees something of: which keys, the scores, what is seen, cap'.

    q: (n, D), scaled    k: (M, D)    mask: (n, M)    scores, cap': (keys, n), in memory used
    again by the next tile    seen: (n, keys), None for all
    """
    n, M = len(q), len(k)
    memory = np.empty(KEYS * n, q.dtype)
    turned = np.ascontiguousarray(q.T)
    for cols in blocks(within_sight(rows, M, window), KEYS):
        part = None if mask is None else mask[:, cols]
        seen = None
        if part is not None or cut(rows, cols, window):
            i, j = np.arange(rows.start, rows.stop), np.arange(cols.start, cols.stop)
            seen = visible(part, window, i[:, None], j)
            if part is not None and not seen.any():
                continue
        s = memory[: (cols.stop - cols.start) * n].reshape(-1, n)
        with np.errstate(over="ignore", invalid="ignore"):  # a forbidden key may hold anything
            np.matmul(k[cols], turned, out=s)
            s, slope = capped(s, softcap)
            if part is not None and part.dtype != bool:
                s += part.T
        if seen is not None:
            np.copyto(s, -np.inf, where=~seen.T)
        yield cols, s, seen, slope


def heads(
    query: Array, key: Array, value: Array, enable_gqa: bool
) -> Iterator[tuple[int, int, int, Array, Array]]:
    """Batch, query head and key head, with the key head's k (M, D) and v (M, E) to compute with."""
    work = accumulator(query.dtype)
    R = group(query.shape[1], key.shape[1], enable_gqa)
    for b, h in np.ndindex(query.shape[:2]):
        g = h // R
        yield b, h, g, *(laid_out(x[b, g], work) for x in (key, value))


vars(attend).update(backward=backward, sink_gradient=sink_gradient, lse=lse)
