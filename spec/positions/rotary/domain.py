"""Where the clauses about rotary positions quantify.

Positions count from zero, or from where a cache ends, or are any whole numbers in any
order, or others in every batch element (as where texts are padded on the left); near
ones, where budgets say most, and far ones, where angles lose their digits. Widths are
even, with those at which code changes its way, and sometimes only a part is rotated.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from spec import entries
from spec.choices import Choices
from spec.domain import Scope
from spec.notation import Array
from spec.positions.angles import BASE
from spec.positions.record import LONG, Capability
from spec.positions.rotary.notation import Problem
from spec.positions.sinusoidal.domain import FAMILIES, FAR, LENGTHS, MOST, NEAR
from spec.stream import Stream
from spec.subject import holding

WIDTHS = (2, 4, 4, 6, 8, 10, 16)
WIDE = (64, 80, 128)
LONG_LENGTHS = (257, 513)
BASES = (100.0, 500000.0)
REACHES = {"near": 50, "any": 5000, "far": 100_000}  # of positions in any order


@dataclass(frozen=True)
class Turns:
    """A domain of problems.

    where: positions "near", "any" or "far". least: the smallest N. offset: no position
    zero. several: more than one batch element. partial: a part of the columns is rotated.
    odd: the width is odd. whole: all columns are rotated.
    """

    where: str = "any"
    least: int = 1
    offset: bool = False
    several: bool = False
    partial: bool = False
    odd: bool = False
    whole: bool = False
    about: ClassVar[str] = "rotary"

    @property
    def needs(self) -> frozenset[str]:
        """The capabilities that the domain requires, and a clause over it needs as well."""
        asked = {
            Capability.OFFSET: self.offset or self.where == "far",
            Capability.LONG: self.where == "far",
            Capability.PARTIAL_ROTATION: self.partial,
        }
        return holding(asked)

    def problem(self, choices: Choices, scope: Scope) -> Problem:
        """A problem of this domain that lies in `scope`."""
        answers = scope.answers
        D = choices.pick(WIDTHS if self.where == "near" else (*WIDTHS, *WIDE))
        D = D + 1 if self.odd else D
        D = D + choices.pick((1, 2, 6)) if self.partial else D
        N = _length(choices, self, scope)
        room = max(1, MOST // (4 * N * D))
        B = max(2 if self.several else 1, min(choices.pick((1, 2, 3)), room))
        H = min(choices.pick((1, 2, 3, 7)), max(1, room // B))
        shape = (B, H, N, D)
        seeded = partial(entries.entries, dtype=scope.dtype)
        q, k, v, dout = entries.drawn(choices, FAMILIES, (shape,) * 4, seeded)
        base = choices.pick((BASE, BASE, *BASES)) if Capability.BASE in answers else BASE
        places, turned = _positions(choices, self, scope, (B, N)), _turned(choices, self, scope, D)
        seed = choices.places(choices.seed())
        problem = Problem(q, k, v, dout, places, base=base, turned=turned, seed=seed)
        return problem.but(dtype=scope.dtype, rounding=scope.rounding)


def _length(choices: Choices, domain: Turns, scope: Scope) -> int:
    short = domain.where != "any" or scope.reach == "small"
    long = () if short or Capability.LONG not in scope.answers else LONG_LENGTHS
    return max(domain.least, choices.pick((*(LENGTHS[:20] if short else LENGTHS), *long)))


def _turned(choices: Choices, domain: Turns, scope: Scope, D: int) -> int | None:
    if domain.whole or domain.odd or Capability.PARTIAL_ROTATION not in scope.answers:
        return None
    parts = tuple(range(2, D, 2))[:8]
    if domain.partial:
        return choices.pick(parts)
    return choices.pick((None, None, None, *parts)) if parts else None


def _positions(choices: Choices, domain: Turns, scope: Scope, shape: tuple[int, int]) -> Array:
    """(B, N), of a kind that is answered."""
    (B, N), answers = shape, scope.answers
    kinds = [] if domain.offset or domain.where == "far" else ["zero"] * 2
    if Capability.OFFSET in answers:
        kinds += ["first"] * 2
        kinds += ["any"] if Capability.POSITIONS in answers else []
        kinds += ["rows"] * 2 if Capability.ROWS_OF_POSITIONS in answers else []
    kind = choices.pick(kinds)
    near = domain.where == "near"  # so near that a table of LONG rows has room to move on
    most = REACHES[domain.where] if near or Capability.LONG in answers else LONG - N - B
    if kind == "any":
        chance = Stream(choices.seed())
        low = most // 2 if domain.where == "far" else int(domain.offset)
        return np.broadcast_to(chance.integers(low, max(most, low + 1), N), shape).astype(float)
    first = np.zeros((B, 1))
    if kind in ("first", "rows"):
        spans = {"near": NEAR, "any": (*NEAR, *FAR), "far": FAR[4:]}[domain.where]
        count = B if kind == "rows" else 1
        first = first + [[min(choices.pick(spans), max(1, most))] for _ in range(count)]
    if kind == "rows":
        first = first + np.arange(B)[:, None]  # never all alike
    return np.broadcast_to(first + np.arange(N), shape).astype(float)
