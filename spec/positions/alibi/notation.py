"""The vocabulary of ALiBi, attention with linear biases: its problems, and what is judged.

Axes     H heads    N queries    M keys
Arrays   scores, bias b (H, N, M)    slopes m (H)
Indices  h is a head, counted from 1; i a query, j a key, both counted from 0

The queries are the last N of M tokens: query i stands at position first + i, where
first = M - N tokens are in a cache. A softmax forgets a constant in a row of scores
(spec.attention.clauses.softmax, S5), so a row of a bias may carry one: what is compared is

    b_ij - b_ip    with p = first + i, the position of the query itself
"""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np

from spec.notation import Array, Call, Length, Posed
from spec.positions.record import Capability
from spec.subject import ROUNDING, Subject, not_offered

SIDES = ("past", "both")  # the default first


@dataclass(frozen=True, eq=False)
class Problem(Posed):
    """Scores that a bias is added to: (H, N, M), and N is at most M. Only their shape matters.

    asked: the slopes (H) that are asked for; None for the published ones.
    """

    scores: Array
    _: KW_ONLY
    asked: Array | None = None

    axes: ClassVar[Mapping[str, str]] = {"scores": "H N M", "asked": "H"}

    H = Length("scores", 0)
    N = Length("scores", 1)
    M = Length("scores", 2)

    @property
    def first(self) -> int:
        """The position of the first query."""
        return self.M - self.N

    @property
    def distance(self) -> Array:
        """How far key j lies behind query i, less than zero where it lies ahead.   (N, M)"""
        return self.first + np.arange(self.N)[:, None] - np.arange(self.M)

    @property
    def past(self) -> Array:
        """True where key j does not lie ahead of query i.   (N, M)"""
        return self.distance >= 0


KINDS: Mapping[str, Callable[[Problem], object]] = {
    Capability.OFFSET: lambda p: p.first != 0,
    Capability.SLOPES: lambda p: p.asked is not None,
}


@dataclass(frozen=True)
class LinearBias(Subject):
    """One way to compute linear biases: plain functions of a problem.

    bias: b (H, N, M)    slopes: m (H)    call: the bias as its caller sees it
    conventions: "sides" is "past" where a causal mask hides what lies ahead, so that
        nothing is claimed about it, or "both" for a bias -m |i - j|.
    """

    bias: Callable[[Problem], Array]
    slopes: Callable[[Problem], Array] = not_offered
    call: Callable[[Problem], Call] = not_offered
    answers: frozenset[str] = field(default=frozenset(KINDS), kw_only=True)
    differentiates: frozenset[str] = field(default=frozenset(KINDS), kw_only=True)

    about: ClassVar[str] = "alibi"
    offering: ClassVar[Mapping[str, str]] = {Capability.SHOWN: "slopes", Capability.CALL: "call"}
    kinds: ClassVar[Mapping[str, Callable[[Any], object]]] = KINDS
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"sides": SIDES, **ROUNDING}

    @property
    def offers(self) -> frozenset[str]:
        """All that a clause may ask of it."""
        both = self.chosen["sides"] == "both"
        return super().offers | ({Capability.SYMMETRIC} if both else set())
