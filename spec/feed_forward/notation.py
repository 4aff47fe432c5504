"""The vocabulary of the feed-forward network: its problem, its gradients, what is judged.

Axes
    B batch    N positions    E width of a position    F units, the inner width

Arrays
    x, y, dy (B, N, E)    W1 (E, F)    b1 (F)    W2 (F, E)    b2 (E)
    z = x W1 + b1, what the units receive, and h = max(0, z), what they hold: (B, N, F)

Words
    A unit is one column of W1 and b1 with its row of W2. Its *gate* at a position is
    open where z > 0. A unit whose gate is closed everywhere is *dead*.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from spec.implementation import Capability, not_offered
from spec.notation import DEFAULT_CONVENTIONS, Array, Call, Grade, read_only


@dataclass(frozen=True, eq=False)
class Problem:
    """One feed-forward problem, and the loss <dy, y> to differentiate."""

    x: Array
    W1: Array
    b1: Array
    W2: Array
    b2: Array
    dy: Array
    dtype: str = "float64"
    rounding: Grade = "strict"
    seed: int = 0

    axes: ClassVar[Mapping[str, str]] = {
        "x": "B N E",
        "W1": "E F",
        "b1": "F",
        "W2": "F E",
        "b2": "E",
        "dy": "B N E",
    }

    def __post_init__(self) -> None:
        read_only(self, self.axes)

    def but(self, **changes: Any) -> Problem:
        """The same problem, except for `changes`."""
        return replace(self, **changes)

    @property
    def B(self) -> int:
        return int(self.x.shape[0])

    @property
    def N(self) -> int:
        return int(self.x.shape[1])

    @property
    def E(self) -> int:
        return int(self.x.shape[2])

    @property
    def F(self) -> int:
        return int(self.W1.shape[1])

    def chance(self) -> np.random.Generator:
        """A source of choices that depends on `seed` alone."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True)
class Gradients:
    """The derivatives of <dy, y>, each shaped like what it is taken by."""

    x: Array
    W1: Array
    b1: Array
    W2: Array
    b2: Array


@dataclass(frozen=True)
class FeedForward:
    """One way to compute the network: plain functions of a problem, and what they leave out.

    forward: y (B, N, E). backward: Gradients. call: the forward pass as its caller sees it.
    The rest is as `spec.implementation.Implementation` has it.
    """

    name: str
    forward: Callable[[Problem], Array]
    backward: Callable[[Problem], Gradients] = not_offered
    call: Callable[[Problem], Call] = not_offered
    answers: frozenset[Capability] = frozenset()
    differentiates: frozenset[Capability] = frozenset()
    dtypes: tuple[str, ...] = ("float64", "float32")
    conventions: Mapping[str, str] = field(default_factory=dict)
    deviations: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""

    about: ClassVar[str] = "feed-forward"
    functions: ClassVar[tuple[str, ...]] = ("forward", "backward", "call")

    def but(self, **changes: Any) -> FeedForward:
        """The same record, except for `changes`."""
        return replace(self, **changes)

    def kinds_of(self, problem: Problem) -> frozenset[Capability]:  # noqa: ARG002
        """No kinds: every problem is of the core, and may not be refused."""
        return frozenset()

    @property
    def offers(self) -> frozenset[Capability]:
        """All that a clause may ask of it."""
        functions = {Capability.GRADIENTS: self.backward, Capability.CALL: self.call}
        return self.answers | {c for c, f in functions.items() if f is not not_offered}

    @property
    def chosen(self) -> Mapping[str, str]:
        """Every convention, with the choice that is made."""
        return {**DEFAULT_CONVENTIONS, **self.conventions}
