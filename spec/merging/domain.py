"""Where the clauses quantify: two states, drawn so that they shrink to zeros.

A log-sum-exp is drawn near 0 and then put in its place: with others of its size, far from them,
where its exponential is no number, or equal to the other one. Rows are drawn one by one:
both states of it live, one of them empty, or both. The output of an empty one is zero, and what a
clause puts there instead is its own affair.

No sum of products overflows: outputs and cotangents are no larger than those of attention are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spec.choices import Choices
from spec.domain import Scope
from spec.entries import LARGEST_ENTRY, drawn, no_larger
from spec.formats import rounded
from spec.merging.notation import Problem, single
from spec.notation import Array
from spec.rows import ALIKE, Numbers, Shape, arrays_of, normal
from spec.sizes import EXTENTS, LENGTHS, WIDE, WIDTHS, Reach
from spec.stream import Stream

MOST_ENTRIES = 2**14  # B H N E beyond this is slow, and finds little
TEN_THOUSAND, LOWEST = 1e4, -1e5  # as scores of trained networks are, and as they can be
ROWS = (0.0, 200.0, -200.0, 300.0, -100.0)
ALL, NOT_FIRST, NOT_SECOND, NONE = range(4)  # which states of a row are live
SEVERAL = (ALL, ALL, NOT_FIRST, NOT_SECOND, NONE)


def tiny(chance: Stream, shape: Shape) -> Array:
    """Entries near 1e-3: small results are results."""
    return normal(chance, shape) / 1024


FAMILIES: Mapping[str, Numbers] = {**ALIKE, "tiny": tiny}
Pair = tuple[Array, Array]


def by_row(x: Array) -> Array:
    """Hundreds that differ from row to row.   as (B, H, N)"""
    return np.resize(ROWS, x.shape)


PLACES: Mapping[str, Callable[[Array, Array], Pair]] = {
    "near": lambda x, y: (x, y),
    "equal": lambda x, _: (x, x),
    "spread": lambda x, y: (4 * x, 4 * y),
    "wide": lambda x, y: (32 * x, 32 * y),
    "scattered": lambda x, y: (x + by_row(x), y + by_row(y)),
    "high": lambda x, y: (x + TEN_THOUSAND, y + TEN_THOUSAND),
    "low": lambda x, y: (x - TEN_THOUSAND, y - TEN_THOUSAND),
    "lowest": lambda x, y: (x + LOWEST, y + LOWEST),
    "apart": lambda x, y: (x + TEN_THOUSAND, y - TEN_THOUSAND),
    "behind": lambda x, y: (x - TEN_THOUSAND, y + TEN_THOUSAND),
}
MODEST = ("near", "equal", "spread")


@dataclass(frozen=True)
class Problems:
    """A domain of pairs of states.

    families: of entries. places: of the log-sum-exps. rows: which states are live, of the rows of
    all problems, the first row being of the first kind; None: all are, or some of each. least: the
    smallest B, H, N to draw.
    """

    families: tuple[str, ...] = tuple(FAMILIES)
    places: tuple[str, ...] = tuple(PLACES)
    rows: tuple[int, ...] | None = None
    least: tuple[int, int, int] = (1, 1, 1)
    about: ClassVar[str] = "merging"
    needs: ClassVar[frozenset[str]] = frozenset()

    def problem(self, choices: Choices, scope: Scope) -> Problem:
        """A problem of this domain that lies in `scope`."""
        shapes = _shapes(choices, self, scope.reach)
        found = drawn(choices, self.families, [*shapes.values()], _seeded)
        arrays = dict(zip(shapes, found, strict=True))
        place = choices.vary(choices.pick(self.places), self.places)
        rows = choices.pick((ALONE, SEVERAL)) if self.rows is None else self.rows
        problem = in_format(arrays, PLACES[place], scope.dtype)
        seed = choices.places(choices.seed())
        return emptied(problem.but(rounding=scope.rounding, seed=seed), rows)


ALONE = (ALL,)
LIVE = Problems(rows=ALONE)


def excluded(domain: Problems) -> tuple[str, ...]:
    """The parts that no problem of a domain has, in words."""
    rows = SEVERAL if domain.rows is None else domain.rows
    if {*rows} == {ALL}:
        return ("an empty part",)
    return () if NONE in rows else ("two empty parts",)


def in_format(
    arrays: Mapping[str, Array], place: Callable[[Array, Array], Pair], dtype: str
) -> Problem:
    """The arrays in their formats, and no larger than they may be."""
    most = LARGEST_ENTRY[dtype]
    found = {name: no_larger(arrays[name], most) for name in ("o_1", "o_2")}
    found |= {name: no_larger(arrays[name], most / 8) for name in ("do", "dlse")}
    found |= dict(zip(("lse_1", "lse_2"), place(arrays["lse_1"], arrays["lse_2"]), strict=True))
    formats = {name: single(dtype) if "lse" in name else dtype for name in found}
    arrays = {name: rounded(x, formats[name]) for name, x in found.items()}
    return Problem(*(arrays[name] for name in Problem.axes), dtype=dtype)


def emptied(problem: Problem, rows: Sequence[int]) -> Problem:
    """The problem with some of its states empty: rows are of these kinds, one of the first."""
    chance = Stream(problem.seed, 2)
    kind = np.asarray(rows)[chance.integers(0, len(rows), problem.lse_1.shape)]
    kind.flat[:1] = rows[0]
    gone = np.isin(kind, (NOT_FIRST, NONE)), np.isin(kind, (NOT_SECOND, NONE))
    return problem.but(
        o_1=np.where(gone[0][..., None], 0.0, problem.o_1),
        lse_1=np.where(gone[0], -np.inf, problem.lse_1),
        o_2=np.where(gone[1][..., None], 0.0, problem.o_2),
        lse_2=np.where(gone[1], -np.inf, problem.lse_2),
    )


def _shapes(choices: Choices, domain: Problems, reach: Reach) -> dict[str, Shape]:
    """The shape of every array; they shrink to one of each."""
    extent = choices.pick(EXTENTS[reach])
    E = choices.pick(WIDE if extent == "wide" else WIDTHS)
    N = choices.pick(LENGTHS[extent])
    B, H = choices.pick((1, 2, 3)), choices.pick((1, 2, 3))
    B, H, N = (max(size, least) for size, least in zip((B, H, N), domain.least, strict=True))
    N = max(domain.least[2], min(N, MOST_ENTRIES // (B * H * E)))
    sizes = {"B": B, "H": H, "N": N, "E": E}
    return {name: tuple(sizes[a] for a in axes.split()) for name, axes in Problem.axes.items()}


def _seeded(family: str, seed: int, shapes: tuple[Shape, ...]) -> list[Array]:
    return arrays_of(FAMILIES[family], Stream(seed), shapes)
