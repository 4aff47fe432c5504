"""Where the clauses quantify: feed-forward problems, drawn so that they shrink to zeros.

The lattice is the family to prove things on: its sums are exact (`rounding`), so gates are
settled and powers of two move through everything to the bit. Widths are drawn equal now
and then, where a transposed weight would fit; else E and F differ, either the larger. And now
and then a bias is zero, as in networks that have none.

Nothing overflows: sums of sizes bound every partial sum, and what would pass the largest
number of the format is multiplied by a power of two until it does not.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spec.attention.conventions import products_as
from spec.choices import Choices
from spec.domain import Scope
from spec.entries import drawn
from spec.feed_forward.notation import Problem
from spec.formats import FORMATS, rounded
from spec.notation import Array
from spec.rows import ALIKE, Numbers, Shape, arrays_of, normal
from spec.sizes import EXTENTS, LENGTHS, WIDE, WIDTHS, Reach
from spec.stream import Stream

MOST_POSITIONS = 2**12  # B N (E + F) beyond this is slow, and finds little
ROOM = 8.0  # for results in error, and for a factor that a clause puts in


def tiny(chance: Stream, shape: Shape) -> Array:
    """Entries near 1e-3: small results are results."""
    return normal(chance, shape) / 1024


FAMILIES: Mapping[str, Numbers] = {**ALIKE, "tiny": tiny}


@dataclass(frozen=True)
class Problems:
    """A domain of feed-forward problems.

    families: of entries. least: the smallest B, N, F to draw.
    """

    families: tuple[str, ...] = tuple(FAMILIES)
    least: tuple[int, int, int] = (1, 1, 1)
    about: ClassVar[str] = "feed-forward"
    needs: ClassVar[frozenset[str]] = frozenset()

    def problem(self, choices: Choices, scope: Scope) -> Problem:
        """A problem of this domain that lies in `scope`."""
        shapes = _shapes(choices, self, scope.reach)
        found = drawn(choices, self.families, tuple(shapes.values()), _seeded)
        arrays: dict[str, Any] = {
            name: rounded(x, scope.dtype) for name, x in zip(shapes, found, strict=True)
        }
        seed = choices.places(choices.seed())
        problem = Problem(**arrays, dtype=scope.dtype, rounding=scope.rounding, seed=seed)
        problem = problem.but(products=products_as(scope.conventions))
        without = choices.pick(((), (), (), (), ("b1",), ("b2",), ("b1", "b2")))
        return tamed(problem.but(**{name: np.zeros_like(arrays[name]) for name in without}))


def _shapes(choices: Choices, domain: Problems, reach: Reach) -> dict[str, Shape]:
    """The shape of every array; they shrink to one of each."""
    extent = choices.pick(EXTENTS[reach])
    widths = WIDE if extent == "wide" else WIDTHS
    E = choices.pick(WIDTHS)
    F = choices.pick((E, *widths))
    N = choices.pick(LENGTHS["modest" if extent == "long" else extent])
    B = choices.pick((1, 2, 3))
    B, N, F = (max(size, least) for size, least in zip((B, N, F), domain.least, strict=True))
    N = max(domain.least[1], min(N, MOST_POSITIONS // (B * (E + F))))
    sizes = {"B": B, "N": N, "E": E, "F": F}
    return {name: tuple(sizes[a] for a in axes.split()) for name, axes in Problem.axes.items()}


def _seeded(family: str, seed: int, shapes: tuple[Shape, ...]) -> list[Array]:
    return arrays_of(FAMILIES[family], Stream(seed), shapes)


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
