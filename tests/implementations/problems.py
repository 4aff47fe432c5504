"""What the implementations are asked: a problem for each option and for what meets in pairs.

No two axes of a problem have the same size.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from implementations import tiles, tiles_torch
from implementations.dense import mask_of_lengths
from spec.attention.notation import Problem
from spec.notation import Array

B, H, G, N, M, D, E = 2, 6, 3, 5, 7, 11, 13


def problem(seed: int = 0, *, long: bool = False, **changes: Any) -> Problem:
    """Numbers that float16 and bfloat16 hold exactly; `long` ones cross the edges of tiles."""
    chance = np.random.default_rng(seed)
    n, m = (tiles_torch.QUERIES + 3, tiles_torch.KEYS + 5) if long else (N, M)
    b, h, g = (1, 2, 1) if long else (B, H, G)
    shapes = ((b, h, n, D), (b, g, m, D), (b, g, m, E), (b, h, n, E))
    q, k, v, dout = (chance.integers(-32, 33, shape) / 16 for shape in shapes)
    return Problem(q, k, v, dout).but(**changes)


def boolean(seed: int = 1) -> Array:
    """A random mask that hides every key from query 2 of every head."""
    mask = np.random.default_rng(seed).random((H, N, M)) < 0.5
    mask[:, 2] = False
    return mask


def additive(seed: int = 2) -> Array:
    """A bias shared by the batch and by the queries; every third key is forbidden."""
    bias = np.random.default_rng(seed).integers(-8, 9, (H, 1, M)) / 4
    bias[..., ::3] = -np.inf
    return bias


def sinks(seed: int = 3, heads: int = H, **others: float) -> Array:
    """A score for each head, about as large as those of keys, but for the heads that are named."""
    t = np.random.default_rng(seed).integers(-16, 17, heads) / 8
    t[[int(name[1:]) for name in others]] = list(others.values())
    return t


def slopes(seed: int = 4, *shape: int) -> Array:
    """What each head's scores lose with each place: as much as those of models, of either sign."""
    m = np.random.default_rng(seed).integers(-4, 17, shape or (H,)) / 16
    m[..., 1] = 0.0
    return m


def segments(seed: int = 6, p: Problem | None = None, *, mixed: bool = False) -> dict[str, Array]:
    """Three texts and padding in every array; those of a long one end where no tile does."""
    p, chance, labels = problem() if p is None else p, np.random.default_rng(seed), (7, 0, 3, -1)
    found = {}
    for name, n in (("query_segments", p.N), ("key_segments", p.M)):
        cuts = np.sort(chance.integers(1, n, (p.B, 3)), axis=1)
        rows = [np.repeat(labels, np.diff(x, prepend=0, append=n)) for x in cuts]
        found[name] = np.array([chance.permutation(x) if mixed else x for x in rows])
    return found


def packed(length: int, p: Problem) -> Problem:
    """The same in texts of one length, one behind the other."""
    mine, theirs = (np.arange(n)[None] // length for n in (p.N, p.M))
    return p.but(query_segments=mine, key_segments=theirs)


def poisoned() -> Problem:
    """Numbers near the largest float32 wherever causality hides a key from every query."""
    p = problem(causal=True)
    k, v = p.k.copy(), p.v.copy()
    k[:, :, N:], v[:, :, N:] = 2.0**127, -(2.0**127)
    return p.but(k=k, v=v)


PROBLEMS: Mapping[str, Callable[[], Problem]] = {
    "plain": problem,
    "causal": lambda: problem(causal=True),
    "mask with an idle row": lambda: problem(mask=boolean()),
    "mask and causal": lambda: problem(mask=boolean(), causal=True),
    "bias": lambda: problem(mask=additive()),
    "bias and causal": lambda: problem(mask=additive(), causal=True),
    "lengths 0 and 3": lambda: problem(mask=mask_of_lengths(np.array([0, 3]), M)),
    "scale 0": lambda: problem(scale=0.0),
    "scale -2": lambda: problem(scale=-2.0),
    "scores of thousands": lambda: problem(scale=64.0),
    "transposed": lambda: problem(memory="transposed", causal=True),
    "strided": lambda: problem(memory="strided", mask=boolean()),
    "a window": lambda: problem(window=(1, 2)),
    "a window that ends ahead alone": lambda: problem(window=(None, 1)),
    "a window and causal": lambda: problem(window=(2, None), causal=True),
    "a window and a mask": lambda: problem(window=(2, 1), mask=boolean()),
    "a window and a bias": lambda: problem(window=(2, 1), mask=additive()),
    "a soft-cap": lambda: problem(softcap=0.5),
    "a cap that is hardly reached": lambda: problem(softcap=30.0),
    "a soft-cap, a window and causal": lambda: problem(softcap=1.0, window=(2, None), causal=True),
    "a soft-cap and a mask": lambda: problem(softcap=1.0, mask=boolean()),
    "a soft-cap and a bias": lambda: problem(softcap=1.0, mask=additive()),
    "sinks": lambda: problem(sinks=sinks()),
    "sinks, and a head without": lambda: problem(sinks=sinks(h2=-np.inf)),
    "a sink far above all scores, one below": lambda: problem(sinks=sinks(h0=200.0, h5=-200.0)),
    "sinks and scores of thousands": lambda: problem(scale=64.0, sinks=sinks(h1=500.0)),
    "sinks and a soft-cap": lambda: problem(sinks=sinks(), softcap=0.5),
    "sinks and causal": lambda: problem(sinks=sinks(h2=-np.inf), causal=True),
    "sinks and a window": lambda: problem(sinks=sinks(), window=(0, 1)),
    "sinks and idle rows": lambda: problem(sinks=sinks(h2=-np.inf, h3=200.0), mask=boolean()),
    "sinks that are none, and idle rows": lambda: problem(
        sinks=np.full(H, -np.inf), mask=boolean()
    ),
    "sinks and a bias": lambda: problem(sinks=sinks(h2=-np.inf), mask=additive()),
    "sinks and everything": lambda: problem(
        sinks=sinks(), mask=additive(), softcap=1.0, window=(2, None), causal=True, scale=2.0
    ),
    "sinks and no keys": lambda: problem(sinks=sinks(h2=-np.inf)).but(
        k=np.zeros((B, G, 0, D)), v=np.zeros((B, G, 0, E))
    ),
    "slopes": lambda: problem(slopes=slopes()),
    "ALiBi slopes per sequence": lambda: problem(slopes=slopes(5, B, H)),
    "slopes of zero": lambda: problem(slopes=np.zeros(H)),
    "slopes that all but hide what is far": lambda: problem(slopes=64.0 * slopes()),
    "ALiBi slopes and scores of thousands": lambda: problem(scale=64.0, slopes=slopes()),
    "ALiBi slopes and a soft-cap": lambda: problem(slopes=slopes(), softcap=0.5),
    "ALiBi slopes and causal": lambda: problem(slopes=slopes(5, B, H), causal=True),
    "ALiBi slopes and a window": lambda: problem(slopes=slopes(), window=(2, 1)),
    "ALiBi slopes and idle rows": lambda: problem(slopes=slopes(5, B, H), mask=boolean()),
    "ALiBi slopes and a bias": lambda: problem(slopes=slopes(), mask=additive()),
    "ALiBi slopes and sinks": lambda: problem(slopes=slopes(), sinks=sinks(h2=-np.inf)),
    "ALiBi slopes, sinks and idle rows": lambda: problem(
        slopes=slopes(), sinks=sinks(h2=-np.inf), mask=boolean()
    ),
    "ALiBi slopes and everything": lambda: problem(
        slopes=slopes(5, B, H),
        sinks=sinks(),
        mask=additive(),
        softcap=1.0,
        window=(2, None),
        causal=True,
        scale=2.0,
    ),
    "ALiBi slopes and no keys": lambda: problem(slopes=slopes()).but(
        k=np.zeros((B, G, 0, D)), v=np.zeros((B, G, 0, E))
    ),
    "ALiBi slopes and more queries than keys": lambda: turned(
        problem(slopes=slopes(), memory="strided")
    ),
    "segments": lambda: problem(**segments()),
    "segments in turns": lambda: problem(**segments(7, mixed=True)),
    "segments that nobody shares": lambda: problem(
        query_segments=np.zeros((B, N), int), key_segments=np.ones((B, M), int)
    ),
    "segments and causal": lambda: problem(**segments(), causal=True),
    "segments and a mask": lambda: problem(**segments(7, mixed=True), mask=boolean()),
    "segments and a bias": lambda: problem(**segments(), mask=additive()),
    "segments and sinks": lambda: problem(**segments(), sinks=sinks(h2=-np.inf)),
    "segments and ALiBi slopes": lambda: problem(**segments(), slopes=slopes(5, B, H)),
    "segments and everything": lambda: problem(
        **segments(7, mixed=True),
        slopes=slopes(5, B, H),
        sinks=sinks(),
        mask=additive(),
        softcap=1.0,
        window=(4, None),
        causal=True,
        scale=2.0,
    ),
    "segments and no keys": lambda: problem(sinks=sinks(h2=-np.inf)).but(
        k=np.zeros((B, G, 0, D)),
        v=np.zeros((B, G, 0, E)),
        query_segments=np.zeros((B, N), int),
        key_segments=np.zeros((B, 0), int),
    ),
    "segments and no queries": lambda: problem().but(
        q=np.zeros((B, H, 0, D)),
        dout=np.zeros((B, H, 0, E)),
        query_segments=np.zeros((B, 0), int),
        key_segments=np.zeros((B, M), int),
    ),
    "no keys": lambda: problem().but(k=np.zeros((B, G, 0, D)), v=np.zeros((B, G, 0, E))),
    "no queries": lambda: problem().but(q=np.zeros((B, H, 0, D)), dout=np.zeros((B, H, 0, E))),
    "no values": lambda: problem().but(v=np.zeros((B, G, M, 0)), dout=np.zeros((B, H, N, 0))),
}
LONG: Mapping[str, Callable[[], Problem]] = {
    "long": lambda: problem(long=True),
    "long and causal": lambda: problem(long=True, causal=True),
    "long through a window": lambda: problem(long=True, window=(200, 70)),
    "long through a window of two keys": lambda: problem(long=True, window=(1, 0)),
    "long under a cap": lambda: problem(long=True, softcap=2.0, causal=True),
    "long with sinks": lambda: problem(long=True, sinks=sinks(heads=2)),
    "long with sinks far above and below": lambda: problem(
        long=True, sinks=np.array([200.0, -200.0]), causal=True
    ),
    "long with a sink through a window": lambda: problem(
        long=True, sinks=np.array([-np.inf, 1.0]), window=(200, 70)
    ),
    "sinks, and a whole tile forbidden": lambda: problem(
        long=True, sinks=sinks(heads=2), mask=np.arange(tiles_torch.KEYS + 5) >= tiles.KEYS
    ),
    "sinks, and queries that see nothing": lambda: turned(
        problem(long=True, sinks=np.array([-np.inf, 1.0]), window=(9, 9))
    ),
    "long with slopes": lambda: problem(long=True, slopes=slopes(4, 2)),
    "long with slopes, causal, and sinks": lambda: problem(
        long=True, slopes=slopes(4, 1, 2), causal=True, sinks=sinks(heads=2)
    ),
    "long with slopes through a window": lambda: problem(
        long=True, slopes=slopes(4, 2), window=(200, 70)
    ),
    "long with slopes under a cap": lambda: problem(
        long=True, slopes=slopes(4, 2) / 16, softcap=2.0
    ),
    "ALiBi slopes, and a whole tile forbidden": lambda: problem(
        long=True, slopes=slopes(4, 2), mask=np.arange(tiles_torch.KEYS + 5) >= tiles.KEYS
    ),
    "long with segments": lambda: with_segments(problem(long=True)),
    "long with segments in turns, causal": lambda: with_segments(
        problem(long=True, causal=True), mixed=True
    ),
    "long with segments through a window": lambda: with_segments(
        problem(long=True, window=(200, 70), sinks=np.array([-np.inf, 1.0]))
    ),
    "long with segments, a bias and ALiBi slopes": lambda: with_segments(
        problem(long=True, slopes=slopes(4, 2), mask=np.arange(tiles_torch.KEYS + 5) % 5 / 4)
    ),
    "long with many short segments": lambda: packed(48, problem(long=True, causal=True)),
    "long with segments that fill tiles": lambda: packed(128, problem(long=True)),
    "long from far behind": lambda: problem(long=True, window=(tiles.KEYS, None)),
    "more queries than a window leaves keys": lambda: turned(problem(long=True, window=(9, 9))),
    "a whole tile forbidden": lambda: problem(
        long=True, mask=np.arange(tiles_torch.KEYS + 5) >= tiles.KEYS
    ),
}


def with_segments(p: Problem, *, mixed: bool = False) -> Problem:
    """The same in three texts."""
    return p.but(**segments(8, p, mixed=mixed))


def turned(p: Problem) -> Problem:
    """As many queries as there were keys, and as many keys as there were queries."""
    n, m = p.M, p.N
    q, dout = (np.resize(x, (*x.shape[:2], n, x.shape[3])) for x in (p.q, p.dout))
    return p.but(q=q, dout=dout, k=p.k[:, :, :m], v=p.v[:, :, :m])
