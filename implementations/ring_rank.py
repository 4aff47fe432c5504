"""What a rank does in a ring: keys go round from one to the next, and queries stay.

    o, m, t <- o, m, t and the keys that are here      so many times as there are ranks

Each rank has some of the queries for good, and at first the keys of the same places (Liu et al.
2023, ring attention). What it knows of its queries is the output so far, the largest score m and
the sum of exponentials t, as in `implementations.online`, so that nothing is lost between two; a
sink is there before the first keys, on each rank for its own queries. Backward the derivatives
by keys and values travel with these, and are at home when they have been everywhere.

Causality, windows and slopes go by places, and places travel: so it is all the same in what way
tokens are spread, and how many a rank has.
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
    """What goes round: k (B, G, m, D), v (B, G, m, E), places and segments (B, m)."""

    k: Array
    v: Array
    places: Array
    segments: Array | None


class Queries(NamedTuple):
    """What stays: q (B, H, n, D), places and segments (B, n), and what is asked besides."""

    q: Array
    places: Array
    segments: Array | None
    sinks: Array | None
    options: Mapping[str, Any]


class Seen(NamedTuple):
    """Of the keys that are here: scores, where these are not -inf, cap'; k and v for each head."""

    s: Array
    seen: Array
    slope: Array | float
    k: Array
    v: Array


def scored(mine: Queries, keys: Keys) -> Seen:
    """s_ij of the queries that a rank has and of the keys that are there."""
    R = mine.q.shape[1] // max(keys.k.shape[1], 1)
    k, v = (shared(laid_out(x, mine.q.dtype), R) for x in (keys.k, keys.v))
    options: dict[str, Any] = {"query_segments": mine.segments, "key_segments": keys.segments}
    options |= {"query_positions": mine.places, "key_positions": keys.places, **mine.options}
    return Seen(*dense.scores(mine.q, k, **options), k, v)


def forward(peers: Peers, mine: Queries, keys: Keys) -> tuple[Array, Array, Array]:
    """A rank's output (B, H, n, E), the largest score and the sum of exponentials (B, H, n)."""
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
    """dq, dk, dv of a rank's own tokens, and its parts of the derivatives by sinks and slopes.

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
        with np.errstate(over="ignore", invalid="ignore"):  # a forbidden value may hold anything
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
