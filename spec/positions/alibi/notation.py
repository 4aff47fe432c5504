"""The vocabulary of ALiBi, attention with linear biases: its problems, and what is judged.

Axes     H heads    N queries    M keys
Arrays   scores, bias b (H, N, M)    slopes m (H)
Indices  h is a head, counted from 1; i a query, j a key, both counted from 0

The queries are the last N of M tokens: query i stands at position first + i, where
first = M - N tokens are in a cache. A softmax forgets a constant in a row of scores
(spec.softmax, S5), so a row of a bias may carry one: what is compared is

    b_ij - b_ip    with p = first + i, the position of the query itself
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from spec.implementation import Capability, not_offered
from spec.notation import DEFAULT_CONVENTIONS, Array, Grade, read_only

KINDS = frozenset({Capability.OFFSET, Capability.SLOPES})
SIDES = ("past", "both")  # the default first


@dataclass(frozen=True, eq=False)
class Problem:
    """Scores that a bias is added to: (H, N, M), and N is at most M. Only their shape matters.

    asked: the slopes (H) that are asked for; None for the published ones.
    The rest is as `spec.notation.Problem` has it.
    """

    scores: Array
    asked: Array | None = None
    dtype: str = "float64"
    rounding: Grade = "strict"
    seed: int = 0

    axes: ClassVar[Mapping[str, str]] = {"scores": "H N M", "asked": "H"}

    def __post_init__(self) -> None:
        read_only(self, self.axes)

    def but(self, **changes: Any) -> Problem:
        """The same problem, except for `changes`."""
        return replace(self, **changes)

    @property
    def H(self) -> int:
        return int(self.scores.shape[0])

    @property
    def N(self) -> int:
        return int(self.scores.shape[1])

    @property
    def M(self) -> int:
        return int(self.scores.shape[2])

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

    def chance(self) -> np.random.Generator:
        """A source of choices that depends on `seed` alone."""
        return np.random.default_rng(self.seed)


def kinds_of(problem: Problem) -> frozenset[Capability]:
    """The kinds of problem that `problem` is; empty for the core."""
    tests = {
        Capability.OFFSET: problem.first != 0,
        Capability.SLOPES: problem.asked is not None,
    }
    return frozenset(kind for kind, holds in tests.items() if holds)


@dataclass(frozen=True)
class LinearBias:
    """One way to compute linear biases: plain functions of a problem.

    bias: b (H, N, M)    slopes: m (H)
    conventions: "sides" is "past" where a causal mask hides what lies ahead, so that
        nothing is claimed about it, or "both" for a bias -m |i - j|.
    The rest is as `spec.implementation.Implementation` has it.
    """

    name: str
    bias: Callable[[Problem], Array]
    slopes: Callable[[Problem], Array] = not_offered
    answers: frozenset[Capability] = KINDS
    differentiates: frozenset[Capability] = KINDS
    dtypes: tuple[str, ...] = ("float64", "float32")
    conventions: Mapping[str, str] = field(default_factory=dict)
    deviations: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""

    about: ClassVar[str] = "alibi"
    functions: ClassVar[tuple[str, ...]] = ("bias", "slopes")

    def but(self, **changes: Any) -> LinearBias:
        """The same biases, except for `changes`."""
        return replace(self, **changes)

    def kinds_of(self, problem: Problem) -> frozenset[Capability]:
        """The kinds of problem that `problem` is; empty for the core."""
        return kinds_of(problem)

    @property
    def offers(self) -> frozenset[Capability]:
        """All that a clause may ask of it."""
        more = {
            Capability.SYMMETRIC: self.chosen["sides"] == "both",
            Capability.SHOWN: self.slopes is not not_offered,
        }
        return self.answers | {c for c, offered in more.items() if offered}

    @property
    def chosen(self) -> Mapping[str, str]:
        """Every convention, with the choice that is made here."""
        return {**DEFAULT_CONVENTIONS, "sides": "past", **self.conventions}
