"""Awkward problems whose tokens stand somewhere: of several texts, at positions, in windows."""

from collections.abc import Iterator

import numpy as np

from spec.attention.notation import Problem
from tests.attention.drawing import biases, draw, permits


def packed() -> Iterator[Problem]:
    """Texts in a row and mixed, padding, odd labels, alone and beside everything else, in tiles."""
    mine, theirs = np.array([[0, 0, 1, 1, 2]] * 2), np.array([[0, 1, 1, 1, 2, 2, 2]] * 2)
    theirs[1] = [2, 0, 0, 1, -1, 1, -1]
    both = {"query_segments": mine, "key_segments": theirs}
    seven = {"query_segments": np.array([[16, 0, 0, 256, 256, -1, -1]] * 2)}
    seven["key_segments"] = seven["query_segments"][:, ::-1].copy()
    yield draw(**both)
    yield draw(N=7, **seven)
    yield draw(H=6, G=2, query_segments=mine * 16 - 1, key_segments=theirs * 16 - 1)
    yield draw(N=1, query_segments=mine[:, 2:3], key_segments=theirs)
    yield draw(N=7, causal=True, query_segments=theirs, key_segments=np.sort(theirs))
    yield draw(N=7, window=(2, 1), **seven)
    yield draw(mask=permits(2, 4, 5, 7), **both)
    yield draw(mask=biases(2, 4, 5, 7), causal=True, **both)
    yield draw(sinks=np.array([0.5, -1.0, -np.inf, 1.25]), **both)
    yield draw(size=4.0, softcap=2.0, slopes=np.array([0.5, -0.125, 2.0, 0.25]), **both)
    long = {"query_segments": np.arange(70)[None] // 23, "key_segments": np.arange(70)[None] // 30}
    yield draw(B=1, H=2, G=1, N=70, M=70, **long)


def standing() -> Iterator[Problem]:
    """Positions behind a cache, out of order, far away, of one side alone, beside all else."""
    p, r = np.array([[4, 5, 6, 7, 9], [2, 0, 1, 1, 3]]), np.array([[4, 0, 2, 6, 8, 9, 5]] * 2)
    r[1] = [-2, -1, 0, 1, 2, 3, 4]
    both, m = {"query_positions": p, "key_positions": r}, np.array([0.5, -0.125, 2.0, 0.25])
    yield draw(**both)
    yield draw(causal=True, **both)
    yield draw(causal=True, query_positions=np.array([[0, 1, 2, 3, 4]] * 2), key_positions=r)
    yield draw(window=(1, 2), **both)
    yield draw(N=5, M=5, causal=True, query_positions=p, key_positions=p)
    yield draw(causal=True, window=(3, None), slopes=m, **both)
    yield draw(slopes=m, **both)
    yield draw(causal=True, query_positions=p)
    yield draw(window=(2, 1), key_positions=r)
    yield draw(N=1, causal=True, query_positions=p[:, 1:2], key_positions=r)
    for c in (2**11 - 2, 2**15 - 3, 2**24 - 2, -(2**9)):
        yield draw(causal=True, window=(4, None), query_positions=p + c, key_positions=r + c)
    yield draw(mask=permits(2, 4, 5, 7), causal=True, **both)
    yield draw(mask=biases(2, 4, 5, 7), window=(2, 1), slopes=m, **both)
    texts = {"query_segments": np.array([[0, 0, 1, 1, 1]] * 2)}
    texts["key_segments"] = np.array([[0, 0, 1, 1, 1, 1, 1]] * 2)
    yield draw(causal=True, **both, **texts)
    yield draw(size=4.0, softcap=2.0, sinks=m, causal=True, **both)
    long = {"query_positions": 2 * np.arange(70)[None], "key_positions": np.arange(70)[None] + 3}
    yield draw(B=1, H=2, G=1, N=70, M=70, causal=True, **long)
    long["query_positions"] = np.arange(70)[None] // 3
    yield draw(B=1, H=2, G=1, N=70, M=70, window=(3, None), **long)


def windowed() -> Iterator[Problem]:
    """Windows with each bound and both, alone and beside causality and masks, across tiles."""
    yield draw(N=7, window=(2, 1))
    yield draw(window=(1, 0), M=9)
    yield draw(N=9, M=5, window=(1, 2))
    yield draw(N=7, window=(None, 1))
    yield from (draw(N=7, causal=x > 0, window=(x, None)) for x in (0, 2))
    yield draw(N=7, window=(2, 1), mask=permits(2, 4, 7, 7))
    yield draw(B=1, H=2, G=1, N=70, M=70, window=(20, 3))


def kept() -> Iterator[Problem]:
    """First keys that a window has passed, by rows and by places, beside all else, across tiles."""
    m, r = np.array([0.5, -0.125, 2.0, 0.25]), np.array([[4, 0, 2, 6, 8, 9, 1]] * 2)
    beside = ({}, {"sinks": m}, {"slopes": m}, {"mask": permits(2, 4, 7, 7)})
    yield from (draw(N=7, window=(1, 0), first=2, **x) for x in beside)
    yield draw(N=9, window=(2, None), first=2, causal=True)
    yield draw(N=7, window=(1, 1), first=3, key_positions=r)
    yield draw(B=1, H=2, G=1, N=70, M=70, window=(3, 0), first=20)
