"""What the implementations are asked where tokens have positions, and where the first keys stay."""

from collections.abc import Callable, Mapping

import numpy as np

from spec.attention.notation import Problem
from spec.notation import Array
from tests.implementations.problems import (
    B,
    E,
    G,
    H,
    M,
    N,
    additive,
    boolean,
    problem,
    segments,
    sinks,
    slopes,
    turned,
    with_segments,
)
from tests.implementations.problems import D as WIDTH

FAR = 2**28 - 3  # beyond what float32 tells apart


def positions(seed: int = 9, p: Problem | None = None, *, mixed: bool = False) -> dict[str, Array]:
    """Queries among the keys, with gaps and with neighbours at one place; another text in each row.

    mixed: in any order
    """
    p, chance, found = problem() if p is None else p, np.random.default_rng(seed), {}
    for name, n in (("query_positions", p.N), ("key_positions", p.M)):
        rows = chance.integers(0, max(p.N, p.M), (p.B, n)) - 2
        found[name] = rows if mixed else np.sort(rows)
    return found


def moved(far: int, both: Mapping[str, Array]) -> dict[str, Array]:
    """The same, all of them `far` away."""
    return {name: x + far for name, x in both.items()}


def alone(side: str) -> dict[str, Array]:
    """Those of one side, beside which the others are counted from 0."""
    return {side: positions()[side]}


def long(*, mixed: bool = False, far: int = 0, turn: bool = False, **changes: object) -> Problem:
    """A long problem with positions.   turn: with more queries than keys"""
    p = problem(long=True, **changes)
    p = turned(p) if turn else p
    return p.but(**moved(far, positions(10, p, mixed=mixed)))


def wide() -> Problem:
    """A long problem whose window no row would leave, but what stands as far apart as here."""
    p = problem(long=True, window=(None, 800))
    return p.but(key_positions=3 * np.arange(p.M)[None])


PLACED: Mapping[str, Callable[[], Problem]] = {
    "positions": lambda: problem(**positions()),
    "positions and causal": lambda: problem(**positions(), causal=True),
    "positions in any order, causal": lambda: problem(**positions(mixed=True), causal=True),
    "positions of queries alone": lambda: problem(**alone("query_positions"), causal=True),
    "positions of keys alone": lambda: problem(**alone("key_positions"), window=(2, 1)),
    "positions and a window": lambda: problem(**positions(mixed=True), window=(1, 0)),
    "positions and ALiBi slopes": lambda: problem(**positions(mixed=True), slopes=slopes(5, B, H)),
    "positions far away, and ALiBi slopes": lambda: problem(
        **moved(-FAR, positions(mixed=True)), slopes=slopes(), causal=True
    ),
    "positions far apart, and ALiBi slopes": lambda: problem(
        query_positions=np.full((B, N), -(2**30)),
        key_positions=np.arange(2**30 - B * M, 2**30).reshape(B, M),
        slopes=slopes() / 2**24,
    ),
    "positions that hide every key": lambda: problem(
        sinks=sinks(h2=-np.inf), causal=True, query_positions=np.full((B, N), -FAR)
    ),
    "positions and a mask": lambda: problem(**positions(), mask=boolean(), window=(3, None)),
    "positions and a bias": lambda: problem(**positions(), mask=additive(), causal=True),
    "positions and segments": lambda: problem(
        **positions(mixed=True), **segments(7, mixed=True), causal=True
    ),
    "positions and everything": lambda: problem(
        **positions(mixed=True),
        **segments(),
        slopes=slopes(5, B, H),
        sinks=sinks(),
        mask=additive(),
        softcap=1.0,
        window=(4, None),
        causal=True,
        scale=2.0,
    ),
    "leading keys": lambda: problem(window=(1, 2), first=2),
    "leading keys and causal": lambda: problem(window=(0, None), first=1, causal=True),
    "more first keys than there are": lambda: problem(window=(1, 1), first=M + 2),
    "leading keys and a bias": lambda: problem(window=(1, 0), first=3, mask=additive()),
    "leading keys, ALiBi slopes and sinks": lambda: problem(
        window=(1, 0), first=2, slopes=slopes(), sinks=sinks()
    ),
    "first keys of texts": lambda: problem(window=(1, 0), first=2, **segments()),
    "first keys by positions": lambda: problem(**positions(mixed=True), window=(1, 0), first=2),
    "positions and no keys": lambda: problem(sinks=sinks(h2=-np.inf), causal=True).but(
        k=np.zeros((B, G, 0, WIDTH)),
        v=np.zeros((B, G, 0, E)),
        query_positions=np.zeros((B, N), int),
        key_positions=np.zeros((B, 0), int),
    ),
    "positions and no queries": lambda: problem(window=(1, 1)).but(
        q=np.zeros((B, H, 0, WIDTH)),
        dout=np.zeros((B, H, 0, E)),
        query_positions=np.zeros((B, 0), int),
        key_positions=np.zeros((B, M), int),
    ),
}
LONG_PLACED: Mapping[str, Callable[[], Problem]] = {
    "long with positions, causal": lambda: long(causal=True),
    "long with positions in any order, causal": lambda: long(mixed=True, causal=True),
    "long with positions through a window": lambda: long(window=(200, 70)),
    "long with positions in any order through a window": lambda: long(mixed=True, window=(30, 7)),
    "long with positions apart, through a window": wide,
    "long with first keys": lambda: problem(long=True, window=(30, 7), first=20),
    "long with first keys of texts": lambda: with_segments(
        problem(long=True, window=(100, None), first=300, causal=True)
    ),
    "long with first keys by positions": lambda: long(mixed=True, window=(30, 7), first=50),
    "long with positions far away, and ALiBi slopes": lambda: long(
        far=FAR, slopes=slopes(4, 2), causal=True
    ),
    "long with positions in any order, and ALiBi slopes": lambda: long(
        mixed=True, slopes=slopes(4, 2), sinks=sinks(heads=2)
    ),
    "long with positions and segments": lambda: with_segments(long(causal=True)),
    "long with positions and segments in turns": lambda: with_segments(
        long(mixed=True, window=(300, 9), slopes=slopes(4, 2)), mixed=True
    ),
    "long with positions and a bias": lambda: with_segments(
        long(window=(200, 70), mask=np.arange(problem(long=True).M) % 5 / 4)
    ),
    "more queries than keys, with positions": lambda: long(
        turn=True, window=(9, 9), sinks=np.array([-np.inf, 1.0])
    ),
}
