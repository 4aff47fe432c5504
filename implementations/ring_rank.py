"""One rank of ring attention: keys go from rank to rank, and queries stay.

    o, m, t <- o, m, t and the keys that are here      once for each rank

Each rank keeps some of the queries, and starts with the keys of the same positions (Liu et al.
2023, ring attention). For its queries it keeps the output so far, the largest score m and the sum
of exponentials t, as in `implementations.online`, so no precision is lost between two steps. Each
rank includes an attention sink for its own queries, before the first keys. In the backward pass,
the gradients of keys and values travel with these, and are complete when they return.

Causality, windows and slopes depend on positions, which travel with the keys. So any distribution
of tokens gives the same result, and ranks may have different numbers of tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from implementations import dense
from implementations.arguments import (
    apart,
    factor,
    gathered,
    laid_out,
    mixed,
    nonzero,
    places,
    reference,
    shared,
    sunk,
)
from implementations.ranks import Peers
from implementations.summed import by_sinks
from spec.notation import Array


class Keys(NamedTuple):
    """The data that goes round: k (B, G, m, D), v (B, G, m, E), positions and segments (B, m)."""

    k: Array
    v: Array
    places: Array
    segments: Array | None


class Queries(NamedTuple):
    """The data that stays: q (B, H, n, D), positions and segments (B, n), sinks and options."""

    q: Array
    places: Array
    segments: Array | None
    sinks: Array | None
    options: Mapping[str, Any]


class Seen(NamedTuple):
    """Results for the keys that are here: scores, visible pairs, cap'; k and v for each head."""

    s: Array
    seen: Array
    slope: Array | float
    k: Array
    v: Array


def scored(mine: Queries, keys: Keys) -> Seen:
    """Return the scores s_ij of the queries of this rank and the keys that are here."""
    R = mine.q.shape[1] // max(keys.k.shape[1], 1)
    k, v = (shared(laid_out(x, mine.q.dtype), R) for x in (keys.k, keys.v))
    options: dict[str, Any] = {"query_segments": mine.segments, "key_segments": keys.segments}
    options |= {"query_positions": mine.places, "key_positions": keys.places, **mine.options}
    return Seen(*dense.scores(mine.q, k, **options), k, v)


def forward(peers: Peers, mine: Queries, keys: Keys) -> tuple[Array, Array, Array]:
    """Return the output of a rank (B, H, n, E), largest score and sum of exponentials (B, H, n)."""
    rows, work = mine.q.shape[:3], mine.q.dtype
    m = np.full(rows, sunk(mine.sinks, rows[1], work)[:, None], work)
    t, o = np.exp(m - reference(m)), np.zeros((*rows, keys.v.shape[-1]), work)
    for _ in range(peers.ranks):
        x = scored(mine, keys)
        top = np.maximum(m, x.s.max(axis=-1, initial=-np.inf))
        fade, e = np.exp(m - reference(top)), np.exp(x.s - reference(top)[..., None])
        o, t = o * fade[..., None] + mixed(e, x.v, x.seen), t * fade + e.sum(axis=-1)
        m, keys = top, peers.passed(keys)
    return o / nonzero(t)[..., None], m, t


def backward(peers: Peers, dout: Array, mine: Queries, keys: Keys) -> tuple[Array, ...]:
    """Return dq, dk, dv of the tokens of a rank, and its terms of the sink and slope gradients.

    The last two are (H,) and (B, H), to be added up over the ranks.
    """
    o, m, t = forward(peers, mine, keys)
    do, R = laid_out(dout, mine.q.dtype), mine.q.shape[1] // max(keys.k.shape[1], 1)
    share, delta = 1 / nonzero(t)[..., None], (do * o).sum(axis=-1, keepdims=True)
    dq, moment = np.zeros_like(mine.q), np.zeros(mine.q.shape[:2], mine.q.dtype)
    dk, dv = (np.zeros(x.shape, mine.q.dtype) for x in (keys.k, keys.v))
    sigma = mine.q.dtype.type(factor(mine.options["scale"], mine.q.shape[-1]))
    for _ in range(peers.ranks):
        x = scored(mine, keys)
        a = np.exp(x.s - reference(m)[..., None]) * share
        with np.errstate(over="ignore", invalid="ignore"):  # a masked value may hold any number
            dz = a * (np.where(x.seen, do @ x.v.swapaxes(-1, -2), 0) - delta)
        ds = dz * x.slope * sigma
        dq += mixed(ds, x.k, x.seen)
        dk += gathered(ds.swapaxes(-1, -2) @ mine.q, R)
        dv += gathered(a.swapaxes(-1, -2) @ do, R)
        d = apart(*places(mine.q, keys.k, mine.places, keys.places), mine.q.dtype)
        moment += (dz * d).sum(axis=(-2, -1))
        keys, dk, dv = peers.passed((keys, dk, dv))
    sinks = sunk(mine.sinks, mine.q.shape[1], do.dtype)[:, None]
    taken = np.exp(sinks - reference(m)) * share[..., 0]
    return dq, dk, dv, by_sinks(taken, do, o, do.dtype), moment
