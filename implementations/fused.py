"""Attention tile by tile: the matrices of scores and weights are never stored as a whole.

For a block of queries, the keys are read in blocks, and the output so far is rescaled if the
largest score rises (Dao et al. 2022, algorithm 1; the recurrence of `implementations.online`, with
blocks). The backward pass computes the weights of a tile again. With the largest score m_i and the
total t_i of the forward pass, and e_ij = exp(s_ij - m_i), no tile needs a division:

    dv_j = sum_i e_ij (dout_i / t_i)
    dk_j = scale sum_i z_ij (q_i / t_i)      z_ij = e_ij (<dout_i, v_j> - <dout_i, o_i> + dlse_i)
    dq_i = scale / t_i sum_j z_ij k_j

Flash kernels store m + log t instead. Two separate numbers lose no precision if m is large. With an
attention sink, the state before the first tile is m_i = t_h, a total of 1, and no output. Tiles
have shape (keys, queries), as `implementations.tiles` makes them.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from implementations.arguments import (
    UNBOUNDED,
    Sight,
    Window,
    accumulator,
    apart,
    factor,
    laid_out,
    mixed,
    nonzero,
    places,
    reference,
    rounded,
    sight,
    sunk,
)
from implementations.summed import by_sinks, by_slopes, row_terms, there
from implementations.tiles import Block, absorb, blocks_of_queries, exponentials, weighted
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
    """Return o_i = sum_j a_ij v_j, in memory that does not grow with N M.

    query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).
    The options and the exceptions are those of `implementations.dense.attend`.
    """
    options: dict[str, Any] = {"attn_mask": attn_mask, "scale": scale, "enable_gqa": enable_gqa}
    options |= {"softcap": softcap, "sinks": sinks, "alibi_slopes": alibi_slopes}
    options |= {"query_segments": query_segments, "key_segments": key_segments}
    options |= {"query_positions": query_positions, "key_positions": key_positions}
    o, _, _ = passed(query, key, value, sight(is_causal, window_size, sink_size), **options)
    return rounded(o, query.dtype)


def lse(
    query: Array,
    key: Array,
    value: Array,
    is_causal: bool = False,
    window_size: Window = UNBOUNDED,
    sink_size: int = 0,
    **options: Any,
) -> Array:
    """Return log (exp(t_h) + sum_j exp(s_ij)), not rounded; -inf if fully masked.   (B, H, N)"""
    _, m, t = passed(query, key, value, sight(is_causal, window_size, sink_size), **options)
    with np.errstate(divide="ignore"):
        return reference(m) + np.log(t)


def backward(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    is_causal: bool = False,
    window_size: Window = UNBOUNDED,
    sink_size: int = 0,
    dlse: Array | None = None,
    **options: Any,
) -> tuple[Array, Array, Array]:
    """Return the gradients of <dout, o> + <dlse, lse> with respect to query, key and value."""
    work = accumulator(query.dtype)
    dq, dk, dv = (np.zeros(x.shape, work) for x in (query, key, value))
    window = sight(is_causal, window_size, sink_size)
    for block, do, share, again in weighed(dout, query, key, value, window, dlse, **options):
        at, q = block.at, block.q * share[:, None]
        do = do * share[:, None]
        for cols, e, z, seen, slope in again:
            if slope is not None:
                z *= slope
            dq[at] += mixed(z.T, block.k[cols], seen)
            dk[block.head][cols] += z @ q
            dv[block.head][cols] += e @ do
        dq[at] *= share[:, None]
    dq *= work.type(factor(options.get("scale"), query.shape[-1]))
    return rounded(dq, query.dtype), rounded(dk, key.dtype), rounded(dv, value.dtype)


def sink_gradient(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    sinks: Array,
    is_causal: bool = False,
    window_size: Window = UNBOUNDED,
    sink_size: int = 0,
    dlse: Array | None = None,
    **options: Any,
) -> Array:
    """Return the gradient with respect to the sinks in their dtype, from o, m and t.   (H,)"""
    window = sight(is_causal, window_size, sink_size)
    o, m, t = passed(query, key, value, window, sinks=sinks, **options)
    share = np.exp(sunk(sinks, query.shape[1], o.dtype)[:, None] - reference(m)) / nonzero(t)
    return by_sinks(share, laid_out(dout, o.dtype), o, sinks.dtype, dlse)


def slope_gradient(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    alibi_slopes: Array,
    is_causal: bool = False,
    window_size: Window = UNBOUNDED,
    sink_size: int = 0,
    query_positions: Array | None = None,
    key_positions: Array | None = None,
    dlse: Array | None = None,
    **options: Any,
) -> Array:
    """Return the gradient with respect to the ALiBi slopes, in their dtype.   (H,) or (B, H)"""
    work, window = accumulator(query.dtype), sight(is_causal, window_size, sink_size)
    moment = np.zeros(query.shape[:2], work)
    options |= {"query_positions": query_positions, "key_positions": key_positions}
    options["alibi_slopes"] = alibi_slopes
    i, j = placed(query, key, query_positions, key_positions)
    for block, _, share, again in weighed(dout, query, key, value, window, dlse, **options):
        b, h, rows = block.at
        for cols, _, z, _, _ in again:
            z *= apart(i[b, rows], j[b, cols, None], work)
            moment[b, h] += z.sum(axis=0) @ share
    return by_slopes(moment, alibi_slopes)


def placed(query: Array, key: Array, p: Array | None, r: Array | None) -> tuple[Array, Array]:
    """Return the positions of the tokens of every sequence.   (B, N) and (B, M)"""
    i, j = places(query, key, p, r)
    B, N, M = len(query), query.shape[2], key.shape[2]
    return np.broadcast_to(i, (B, 1, N, 1))[:, 0, :, 0], np.broadcast_to(j, (B, 1, 1, M))[:, 0, 0]


def passed(
    query: Array,
    key: Array,
    value: Array,
    window: Sight,
    sinks: Array | None = None,
    **options: Any,
) -> tuple[Array, Array, Array]:
    """Return output (B, H, N, E), largest score m and total t (B, H, N), not rounded."""
    rows, work = query.shape[:3], accumulator(query.dtype)
    o = np.zeros((*rows, value.shape[-1]), work)
    m = np.full(rows, sunk(sinks, query.shape[1], work)[:, None], work)
    t = np.exp(m - reference(m))
    for at, _, _, _, v, tiles in blocks_of_queries(query, key, value, window, **options):
        for cols, s, seen, _ in tiles:
            absorb(s, v[cols], seen, o[at], m[at], t[at])
        o[at] /= nonzero(t[at])[:, None]
    return o, m, t


class Weighed(NamedTuple):
    """A tile in the backward pass: its keys, e_ij and z_ij (keys, n), visible pairs, and cap'."""

    cols: slice
    e: Array
    z: Array
    seen: Array | None
    slope: Array | None


def weighed(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    window: Sight,
    dlse: Array | None = None,
    sinks: Array | None = None,
    **options: Any,
) -> Iterator[tuple[Block, Array, Array, Iterator[Weighed]]]:
    """Yield each block of queries, with dout_i (n, E), 1 / t_i (n,), and its tiles."""
    o, m, t = passed(query, key, value, window, sinks, **options)
    for block in blocks_of_queries(query, key, value, window, **options):
        at = block.at
        do = laid_out(dout[at], o.dtype)
        mean = row_terms(do, o[at], there(dlse, at))
        again = weighed_tiles(block, do, mean, m[at])
        yield block, do, 1 / nonzero(t[at]), again


def weighed_tiles(block: Block, do: Array, mean: Array, m: Array) -> Iterator[Weighed]:
    """Yield the tiles of a block, in memory that the next one overwrites.

    do: (n, E)    mean, m: (n,)
    """
    for cols, s, seen, slope in block.tiles:
        exponentials(s, m)
        yield Weighed(cols, s, weighted(s, do, block.v[cols], mean, seen), seen, slope)


vars(attend).update(
    backward=backward, sink_gradient=sink_gradient, slope_gradient=slope_gradient, lse=lse
)
