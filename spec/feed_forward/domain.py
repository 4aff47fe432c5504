"""Where the clauses quantify: feed-forward problems, drawn so that they shrink to zeros.

The lattice is the family to prove things on: its sums are exact (`rounding`), so gates are
settled and powers of two move through everything to the bit. Widths are drawn equal now
and then, where a transposed weight would fit; else E and F differ, either the larger.

Nothing overflows: sums of sizes bound every partial sum, and what would pass the largest
number of the format is multiplied by a power of two until it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from spec.entries import BYTES, LATTICE
from spec.feed_forward.notation import Problem
from spec.formats import FORMATS, rounded
from spec.notation import Array
from spec.sizes import EXTENTS, LENGTHS, WIDE, WIDTHS, pick

Chance = np.random.Generator
Shapes = Mapping[str, tuple[int, ...]]

SEEDS = st.integers(0, 2**32 - 1)
DRAWN_ENTRY_BY_ENTRY = 160  # a problem of at most so many numbers is
MOST_POSITIONS = 2**12  # B N (E + F) beyond this is slow, and finds little
ROOM = 8.0  # for results in error, and for a factor that a clause puts in


def lattice(chance: Chance, shape: tuple[int, ...]) -> Array:
    """Multiples of 1/16 in [-4, 4]."""
    return chance.integers(-64, 65, shape) / LATTICE


def ties(chance: Chance, shape: tuple[int, ...]) -> Array:
    """-1, 0 and 1, so that many units receive exactly 0."""
    return chance.integers(-1, 2, shape).astype(float)


def normal(chance: Chance, shape: tuple[int, ...]) -> Array:
    """Standard normal entries."""
    return chance.standard_normal(shape)


def heavy(chance: Chance, shape: tuple[int, ...]) -> Array:
    """A few entries far larger than all others."""
    return chance.standard_t(2, shape)


def tiny(chance: Chance, shape: tuple[int, ...]) -> Array:
    """Entries near 1e-3: small results are results."""
    return chance.standard_normal(shape) / 1024


FAMILIES: Mapping[str, Callable[[Chance, tuple[int, ...]], Array]] = {
    "lattice": lattice,
    "ties": ties,
    "normal": normal,
    "heavy": heavy,
    "tiny": tiny,
}
EXACT = ("lattice", "ties")
ALL = tuple(FAMILIES)


@dataclass(frozen=True)
class Problems:
    """A domain of feed-forward problems.

    families: of entries. least: the smallest B, N, F to draw.
    """

    families: tuple[str, ...] = ALL
    least: tuple[int, int, int] = (1, 1, 1)
    about: ClassVar[str] = "feed-forward"
    needs: ClassVar[frozenset[str]] = frozenset()

    def within(self, scope: Any) -> st.SearchStrategy[Problem]:
        """The strategy: problems of this domain that lie in `scope`."""
        return _strategy(self, scope)


@st.composite
def _strategy(draw: st.DrawFn, domain: Problems, scope: Any) -> Problem:
    shapes = _shapes(draw, domain, scope.reach)
    family = pick(draw, domain.families)
    count = sum(int(np.prod(shape)) for shape in shapes.values())
    if family in EXACT and count <= DRAWN_ENTRY_BY_ENTRY:
        drawn = BYTES[np.frombuffer(draw(st.binary(min_size=count, max_size=count)), np.uint8)]
        arrays = _cut(drawn, shapes)
    else:
        chance = np.random.default_rng(draw(SEEDS))
        arrays = {name: FAMILIES[family](chance, shape) for name, shape in shapes.items()}
    arrays = {name: rounded(x, scope.dtype) for name, x in arrays.items()}
    problem = Problem(**arrays, dtype=scope.dtype, rounding=scope.rounding, seed=draw(SEEDS))
    return tamed(problem)


def _shapes(draw: st.DrawFn, domain: Problems, reach: Any) -> Shapes:
    """The shape of every array; they shrink to one of each."""
    extent = pick(draw, EXTENTS[reach])
    widths = WIDE if extent == "wide" else WIDTHS
    E = pick(draw, WIDTHS)
    F = pick(draw, (E, *widths))
    N = pick(draw, LENGTHS["modest" if extent == "long" else extent])
    B = pick(draw, (1, 2, 3))
    B, N, F = (max(size, least) for size, least in zip((B, N, F), domain.least, strict=True))
    N = max(domain.least[1], min(N, MOST_POSITIONS // (B * (E + F))))
    sizes = {"B": B, "N": N, "E": E, "F": F}
    return {name: tuple(sizes[a] for a in axes.split()) for name, axes in Problem.axes.items()}


def _cut(numbers: Array, shapes: Shapes) -> dict[str, Array]:
    """One array of numbers, cut into arrays of these shapes."""
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])
    parts = np.split(numbers, ends[:-1])
    return {name: part.reshape(shapes[name]) for name, part in zip(shapes, parts, strict=True)}


def tamed(problem: Problem) -> Problem:
    """The same problem, with powers of two taken out of what would overflow."""
    most = FORMATS[problem.dtype].max / ROOM
    z = _most(np.abs(problem.x) @ np.abs(problem.W1) + np.abs(problem.b1))
    problem = _smaller(problem, ("x", "b1"), z / most)
    h = np.abs(problem.x) @ np.abs(problem.W1) + np.abs(problem.b1)
    y = _most(h @ np.abs(problem.W2) + np.abs(problem.b2))
    problem = _smaller(problem, ("W2", "b2"), y / most)
    return _smaller(problem, ("dy",), _largest_gradient(problem, h) / most)


def _largest_gradient(problem: Problem, h: Array) -> float:
    """The sum of sizes in any gradient; h: (B, N, F), an upper bound."""
    dy = np.abs(problem.dy)
    dh = dy @ np.abs(problem.W2).T
    x = np.abs(problem.x).reshape(-1, problem.E)
    return max(
        _most(dh @ np.abs(problem.W1).T),
        _most(x.T @ dh.reshape(-1, problem.F)),
        _most(dh.sum(axis=(0, 1))),
        _most(h.reshape(-1, problem.F).T @ dy.reshape(-1, problem.E)),
        _most(dy.sum(axis=(0, 1))),
    )


def _most(x: Array) -> float:
    return float(x.max(initial=0.0))


def _smaller(problem: Problem, names: tuple[str, ...], excess: float) -> Problem:
    """The problem, its arrays `names` divided by a power of two that is at least `excess`."""
    if excess <= 1:
        return problem
    factor = 2.0 ** -float(np.ceil(np.log2(excess)))
    changes = {n: rounded(getattr(problem, n) * factor, problem.dtype) for n in names}
    return problem.but(**changes)
