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

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from spec.attention.conventions import OF_UNITS
from spec.attention.options import Capability
from spec.notation import Array, Call, Length, Posed
from spec.subject import GRADIENTS, Subject, not_offered


@dataclass(frozen=True, eq=False)
class Problem(Posed):
    """One feed-forward problem, and the loss <dy, y> to differentiate."""

    x: Array
    W1: Array
    b1: Array
    W2: Array
    b2: Array
    dy: Array

    axes: ClassVar[Mapping[str, str]] = {
        "x": "B N E",
        "W1": "E F",
        "b1": "F",
        "W2": "F E",
        "b2": "E",
        "dy": "B N E",
    }

    B = Length("x", 0)
    N = Length("x", 1)
    E = Length("x", 2)
    F = Length("W1", 1)


class Gradients(NamedTuple):
    """The derivatives of <dy, y>, each shaped like what it is taken by."""

    x: Array
    W1: Array
    b1: Array
    W2: Array
    b2: Array


@dataclass(frozen=True)
class FeedForward(Subject):
    """One way to compute the network: plain functions of a problem, and what they leave out.

    forward: y (B, N, E). backward: Gradients. call: the forward pass as its caller sees it.
    """

    forward: Callable[[Problem], Array]
    backward: Callable[[Problem], Gradients] = not_offered
    call: Callable[[Problem], Call] = not_offered

    about: ClassVar[str] = "feed-forward"
    offering: ClassVar[Mapping[str, str]] = {
        Capability.GRADIENTS: "backward",
        Capability.CALL: "call",
    }
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {**OF_UNITS, **GRADIENTS}
