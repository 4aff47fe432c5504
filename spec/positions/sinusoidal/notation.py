"""The vocabulary of sinusoidal positions: their problems, and what is judged.

Axes     B batch    N tokens    E width of a token
Arrays   x, dout, y (B, N, E)    table (N, E)
Indices  p is a position, i a pair of columns (2i, 2i + 1), theta_i its frequency

Token n of a sequence stands at position first + n. The columns of every array here are
interleaved: sine and cosine of a pair are neighbours. A program that has all sines before all
cosines declares the pairing "halves", and `plug` puts its columns in this order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np

from spec.notation import Array, Call, Length, Posed
from spec.positions.pairing import PAIRINGS
from spec.positions.record import LONG, Capability
from spec.subject import GRADIENTS, ROUNDING, Subject, not_offered


@dataclass(frozen=True, eq=False)
class Problem(Posed):
    """Tokens that get encodings of their positions, and the loss <dout, y> to differentiate.

    x, dout: (B, N, E). first: the position of the first token, more than zero where a
    cache holds those before.
    """

    x: Array
    dout: Array
    _: KW_ONLY
    first: int = 0

    axes: ClassVar[Mapping[str, str]] = {"x": "B N E", "dout": "B N E"}

    def tokens(self, kept: slice) -> Problem:
        """The same problem of consecutive tokens alone, which stay where they stand."""
        return self.part("N", kept).but(first=self.first + kept.indices(self.N)[0])

    B = Length("x", 0)
    N = Length("x", 1)
    E = Length("x", 2)
    width = E  # all columns are paired

    @property
    def positions(self) -> Array:
        """first, first + 1, ...   (N)"""
        return self.first + np.arange(self.N)


KINDS: Mapping[str, Callable[[Problem], object]] = {
    Capability.OFFSET: lambda p: p.first != 0,
    Capability.LONG: lambda p: p.first + p.N > LONG,
    Capability.ODD_WIDTHS: lambda p: p.E % 2,
}


@dataclass(frozen=True)
class Encoding(Subject):
    """One way to add sinusoidal positions: plain functions of a problem.

    table: (N, E), the rows of the problem's positions    add: y (B, N, E)
    backward: dx (B, N, E)    call: the sum as its caller sees it
    conventions: "pairing", for which its functions have been put in our order already.
    """

    table: Callable[[Problem], Array]
    add: Callable[[Problem], Array]
    backward: Callable[[Problem], Array] = not_offered
    call: Callable[[Problem], Call] = not_offered
    answers: frozenset[str] = field(default=frozenset(KINDS), kw_only=True)
    differentiates: frozenset[str] = field(default=frozenset(KINDS), kw_only=True)

    about: ClassVar[str] = "sinusoidal"
    offering: ClassVar[Mapping[str, str]] = {
        Capability.GRADIENTS: "backward",
        Capability.CALL: "call",
    }
    kinds: ClassVar[Mapping[str, Callable[[Any], object]]] = KINDS
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "pairing": PAIRINGS,
        **GRADIENTS,
        **ROUNDING,
    }
