"""Attention in parts: each part of the keys is computed alone, and the results are merged.

    (o, lse) = (o_1, lse_1) + (o_2, lse_2) + ...

Servers do this if the keys are in pages, on several cores or on several machines (Dao et al. 2023,
flash-decoding). A part is computed by `dense`, a merge by `merging`; the attention sink belongs to
the first part. In the backward pass, the merges give the cotangents of each state, and that of lse
is a term of the gradient of a score:

    ds_ij = a_ij (da_ij - sum_j a_ij da_ij + dlse_i)

Each state is normalised before the merge, which costs u |lse| of a weight (`parts=merged`). A bias
that is the same for all keys should not change the output; here it does beyond about 2^9
(M22, M23). If lse is so large that adding log 2 does not change it, the last of three equal keys
has the weight 1/2. In the backward pass, the last two terms cancel for a key with a small weight in
a part with a small weight. The error of its gradient is then u times the size of both terms, not of
their difference (S12 in float64, A3 with a large sink).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from implementations import dense, merging, summed
from implementations.arguments import (
    UNBOUNDED,
    Window,
    apart,
    everywhere,
    factor,
    gathered,
    laid_out,
    mixed,
    reference,
    rounded,
    sight,
    slanted,
    steep,
    visible,
)
from implementations.summed import by_sinks, by_slopes
from spec.notation import Array

PARTS = 4
Options = dict[str, Any]


class Part(NamedTuple):
    """Some keys: their range and content, the options, with everything that masks, and the sink.

    k, v: (B, H, keys, width)    options: of `dense.scores`, with causality, window and slopes in
    the mask    sinks: (H, 1, 1), -inf except in the first part
    """

    keys: slice
    k: Array
    v: Array
    options: Options
    sinks: Array


class Attended(NamedTuple):
    """The results of a part: weights, visible pairs, cap', and its state.

    state: the output and its log-sum-exp, not rounded
    """

    part: Part
    a: Array
    seen: Array
    slope: Array | float
    state: merging.State


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
    alibi_slopes: Array | None = None,
    parts: int = PARTS,
) -> Array:
    """Return the output of `dense.attend`, from keys that are split into `parts` parts.

    The lengths of the parts differ by at most one key.
    """
    hiding: Options = {"attn_mask": attn_mask, "is_causal": is_causal, "window_size": window_size}
    of_scores: Options = {
        "scale": scale,
        "softcap": softcap,
        "sinks": sinks,
        "alibi_slopes": alibi_slopes,
    }
    q, cut = opened(query, key, value, enable_gqa=enable_gqa, parts=parts, **hiding, **of_scores)
    return rounded(merged(attended(q, cut))[-1][0], query.dtype)


def lse(query: Array, key: Array, value: Array, **options: Any) -> Array:
    """Return log (exp(t_h) + sum_j exp(s_ij)), not rounded; -inf if fully masked.   (B, H, N)"""
    q, cut = opened(query, key, value, **options)
    return merged(attended(q, cut))[-1][1]


def backward(
    dout: Array, query: Array, key: Array, value: Array, dlse: Array | None = None, **options: Any
) -> tuple[Array, Array, Array]:
    """Return the gradients of <dout, o> + <dlse, lse> with respect to query, key and value."""
    q, cut = opened(query, key, value, **options)
    R = query.shape[1] // max(key.shape[1], 1)
    dq = np.zeros_like(q)
    dk, dv = (np.zeros(x.shape, q.dtype) for x in (key, value))
    for x, do, ds in score_gradients(laid_out(dout, q.dtype), dlse, attended(q, cut)):
        dt = ds * x.slope * q.dtype.type(factor(options.get("scale"), q.shape[-1]))
        dq += mixed(dt, x.part.k, x.seen)
        dk[:, :, x.part.keys] = gathered(dt.swapaxes(-1, -2) @ q, R)
        dv[:, :, x.part.keys] = gathered(x.a.swapaxes(-1, -2) @ do, R)
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
    """Return the gradient with respect to the sinks, which are scores of the first part.   (H,)"""
    q, cut = opened(query, key, value, sinks=sinks, **options)
    *_, (first, do, own) = cotangents(laid_out(dout, q.dtype), dlse, attended(q, cut))
    o, logs = first.state
    share = np.exp(first.part.sinks[..., 0] - reference(logs))
    return by_sinks(share, do, o, sinks.dtype, own)


def slope_gradient(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    alibi_slopes: Array,
    dlse: Array | None = None,
    **options: Any,
) -> Array:
    """Return the gradient with respect to the ALiBi slopes, in their dtype.   (H,) or (B, H)"""
    q, cut = opened(query, key, value, alibi_slopes=alibi_slopes, **options)
    d = apart(np.arange(q.shape[2])[:, None], np.arange(key.shape[2]), q.dtype)
    found = score_gradients(laid_out(dout, q.dtype), dlse, attended(q, cut))
    moments = [(ds * d[:, x.part.keys]).sum(axis=(-2, -1)) for x, _, ds in found]
    return by_slopes(np.sum(moments, axis=0), alibi_slopes)


def opened(
    query: Array,
    key: Array,
    value: Array,
    scale: float | None = None,
    enable_gqa: bool = False,
    softcap: float | None = None,
    sinks: Array | None = None,
    parts: int = PARTS,
    **hiding: Any,
) -> tuple[Array, list[Part]]:
    """Return the queries in the accumulator dtype, and the parts of the keys."""
    q, k, v = dense.opened(query, key, value, enable_gqa)
    M = k.shape[-2]
    whole = written_out(q, M, **hiding)
    ends = [M * n // parts for n in range(parts + 1)]
    found = []
    for n, keys in enumerate(map(slice, ends, ends[1:])):
        options = {"attn_mask": whole[..., keys], "scale": scale, "softcap": softcap}
        t = dense.beside(None if n else sinks, q)
        found.append(Part(keys, k[..., keys, :], v[..., keys, :], options, t))
    return q, found


def written_out(
    q: Array,
    M: int,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    window_size: Window = UNBOUNDED,
    alibi_slopes: Array | None = None,
) -> Array:
    """Return a mask of all keys that includes causality, window and slopes.   (B, H, N, M)

    These depend on the position of a key, which is unknown inside a part.
    """
    shape, i, j = (*q.shape[:-1], M), np.arange(q.shape[-2])[:, None], np.arange(M)
    mask, slopes = everywhere(attn_mask, shape), steep(alibi_slopes, q.shape, q.dtype)
    seen = visible(mask, sight(is_causal, window_size), i, j)
    if slopes is not None or (mask is not None and mask.dtype != bool):
        added = np.zeros((), q.dtype) if mask is None or mask.dtype == bool else mask
        added = slanted(np.broadcast_to(added, shape).astype(q.dtype), slopes, i, j)
        seen = np.where(seen, added, q.dtype.type(-np.inf))
    return np.broadcast_to(seen, shape)


def attended(q: Array, cut: list[Part]) -> list[Attended]:
    """Return the results of each part."""
    found = []
    for part in cut:
        s, seen, slope = dense.scores(q, part.k, **part.options)
        a, lse = dense.softmax(s, part.sinks)
        found.append(Attended(part, a, seen, slope, (mixed(a, part.v, seen), lse)))
    return found


def merged(found: list[Attended]) -> list[merging.State]:
    """Return the state of the first part, of the first two, and so on; the last is that of all."""
    so_far = [found[0].state]
    for x in found[1:]:
        so_far.append(merging.merge(*so_far[-1], *x.state))
    return so_far


def cotangents(
    dout: Array, dlse: Array | None, found: list[Attended]
) -> Iterator[tuple[Attended, Array, Array]]:
    """Yield each part with the cotangents of its output and its log-sum-exp, the last one first."""
    so_far = merged(found)
    nothing = np.zeros(dout.shape[:-1], dout.dtype)
    do, dlse = dout, nothing if dlse is None else dlse.astype(dout.dtype)
    for n in range(len(found) - 1, 0, -1):
        do, dlse, do_n, dlse_n = merging.backward(do, dlse, *so_far[n - 1], *found[n].state)
        yield found[n], do_n, dlse_n
    yield found[0], do, dlse


def score_gradients(
    dout: Array, dlse: Array | None, found: list[Attended]
) -> Iterator[tuple[Attended, Array, Array]]:
    """Yield each part with the cotangent of its output, and the gradient of its scores."""
    for x, do, own in cotangents(dout, dlse, found):
        yield x, do, summed.score_gradients(x.a, do, x.part.v, x.seen, own)


vars(attend).update(backward=backward, sink_gradient=sink_gradient, slope_gradient=slope_gradient)
vars(attend).update(lse=lse)
