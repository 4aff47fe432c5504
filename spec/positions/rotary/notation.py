"""The vocabulary of rotary positions: their problems, and what is judged.

Axes     B batch    H heads    N tokens    D width of a head
Arrays   q, k, v, dout (B, H, N, D)    positions (B, N)
Indices  n is a token, p its position, i a pair of columns (2i, 2i + 1), theta_i its frequency

The rotated array is q, unless another one is named. The columns of every array here are
interleaved: the two of a pair are neighbours. A program that pairs column i with i + D/2
declares the pairing "halves", and `plug` puts its columns in this order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np

from spec.notation import Array, Call, Length, Posed
from spec.positions.angles import BASE
from spec.positions.pairing import PAIRINGS
from spec.positions.record import LONG, Capability
from spec.subject import GRADIENTS, ROUNDING, Subject, not_offered


@dataclass(frozen=True, eq=False)
class Problem(Posed):
    """Queries to be rotated by their positions, and the loss <dout, rotated q>.

    q, k, v, dout: (B, H, N, D). positions: (B, N), whole numbers. base: of the frequencies.
    turned: how many of the first columns are rotated, None for all of them.
    """

    q: Array
    k: Array
    v: Array
    dout: Array
    positions: Array
    _: KW_ONLY
    base: float = BASE
    turned: int | None = None

    axes: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("q", "k", "v", "dout"), "B H N D"),
        "positions": "B N",
    }

    def of(self, function: Callable[[Array], Array]) -> Problem:
        """The same problem with `function` of q, k, v and dout."""
        names = ("q", "k", "v", "dout")
        return self.but(**{name: function(getattr(self, name)) for name in names})

    def tokens(self, kept: slice) -> Problem:
        """The same problem of some tokens alone, which stay where they stand."""
        return self.part("N", kept)

    def one(self, b: int, h: int) -> Problem:
        """The same problem of one batch element and one head alone."""
        return self.part("B", slice(b, b + 1)).part("H", slice(h, h + 1))

    def moved(self, by: int) -> Problem:
        """The same problem of tokens that stand so many positions further on."""
        return self.but(positions=self.positions + by)

    B = Length("q", 0)
    H = Length("q", 1)
    N = Length("q", 2)
    D = Length("q", 3)

    @property
    def width(self) -> int:
        """How many columns are rotated."""
        return self.D if self.turned is None else self.turned


KINDS: Mapping[str, Callable[[Problem], object]] = {
    Capability.OFFSET: lambda p: p.positions[:, :1].any(),
    Capability.POSITIONS: lambda p: (p.positions - p.positions[:, :1] != np.arange(p.N)).any(),
    Capability.ROWS_OF_POSITIONS: lambda p: (p.positions != p.positions[:1]).any(),
    Capability.LONG: lambda p: (p.positions >= LONG).any(),
    Capability.ODD_WIDTHS: lambda p: p.width % 2,
    Capability.PARTIAL_ROTATION: lambda p: p.width != p.D,
    Capability.BASE: lambda p: p.base != BASE,
}
USUAL = frozenset(KINDS) - {Capability.ODD_WIDTHS}  # which have no pairs


@dataclass(frozen=True)
class Rotation(Subject):
    """One way to rotate by positions: plain functions of a problem.

    rotate: (B, H, N, D), the rotated q    backward: dq (B, H, N, D)
    place: the rotated q and k, and v, as attention is to receive them
    call: the rotation as its caller sees it
    conventions: "pairing", for which its functions have been put in our order already.
    """

    rotate: Callable[[Problem], Array]
    backward: Callable[[Problem], Array] = not_offered
    place: Callable[[Problem], tuple[Array, Array, Array]] = not_offered
    call: Callable[[Problem], Call] = not_offered
    answers: frozenset[str] = field(default=USUAL, kw_only=True)
    differentiates: frozenset[str] = field(default=USUAL, kw_only=True)

    about: ClassVar[str] = "rotary"
    offering: ClassVar[Mapping[str, str]] = {
        Capability.GRADIENTS: "backward",
        Capability.PLACES: "place",
        Capability.CALL: "call",
    }
    kinds: ClassVar[Mapping[str, Callable[[Any], object]]] = KINDS
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "pairing": PAIRINGS,
        **GRADIENTS,
        **ROUNDING,
    }
