"""The vocabulary of merging: states, problems, gradients, and what is judged.

Axes
    B batch    H heads    N queries    E width of a value

Arrays
    o_1, o_2, o, do (B, H, N, E)    lse_1, lse_2, lse, dlse (B, H, N)
    weights w_1, w_2: (B, H, N)

Words
    What is known of some keys is their *state* for a query: the output o that they give by
    themselves, and the logarithm lse of the sum of exp(score) over them. A state of no keys is
    *empty*: its lse is -inf and its output is no matter, but by convention zero. One that is not
    is *live*. A state is *above* another one by the difference of their lse.

Numbers of o have the dtype of the problem. Log-sum-exps have it too, except for 16
bits: a log-sum-exp of thousands needs its fractions, so it comes and is returned in float32.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from spec.attention.options import Capability
from spec.notation import HALF, Array, Call, Length, Posed
from spec.subject import GRADIENTS, Subject, not_offered

CONVENTIONS: Mapping[str, tuple[str, ...]] = {
    "fully-masked-lse": ("-inf", "+inf"),
    "lse-base": ("e", "2"),
}


class State(NamedTuple):
    """The attention over some keys: o (B, H, N, E), and lse (B, H, N)."""

    o: Array
    lse: Array


class Gradients(NamedTuple):
    """The derivatives of <do, o> + <dlse, lse>, each shaped like what it is taken by."""

    o_1: Array
    lse_1: Array
    o_2: Array
    lse_2: Array


@dataclass(frozen=True, eq=False)
class Problem(Posed):
    """Two states to be merged, and the loss <do, o> + <dlse, lse> to differentiate."""

    o_1: Array
    lse_1: Array
    o_2: Array
    lse_2: Array
    do: Array
    dlse: Array

    axes: ClassVar[Mapping[str, str]] = {
        "o_1": "B H N E",
        "lse_1": "B H N",
        "o_2": "B H N E",
        "lse_2": "B H N",
        "do": "B H N E",
        "dlse": "B H N",
    }

    B = Length("o_1", 0)
    H = Length("o_1", 1)
    N = Length("o_1", 2)
    E = Length("o_1", 3)

    @property
    def lse_dtype(self) -> str:
        """The dtype of every log-sum-exp."""
        return single(self.dtype)

    @property
    def one(self) -> State:
        """The first state."""
        return State(self.o_1, self.lse_1)

    @property
    def two(self) -> State:
        """The second state."""
        return State(self.o_2, self.lse_2)

    @property
    def empty(self) -> tuple[Array, Array]:
        """Where each of the states is empty.   two of (B, H, N)"""
        return np.isneginf(self.lse_1), np.isneginf(self.lse_2)

    def of(self, one: State, two: State) -> "Problem":
        """The same problem of two other states; results that were read wider are float64 again."""
        o_1, lse_1, o_2, lse_2 = (x.astype(np.float64) for x in (*one, *two))
        return self.but(o_1=o_1, lse_1=lse_1, o_2=o_2, lse_2=lse_2)

    def turned(self) -> "Problem":
        """The same two states, the second one first."""
        return self.of(self.two, self.one)


def single(dtype: str) -> str:
    """The dtype of the log-sum-exps for outputs of a dtype."""
    return "float32" if dtype in HALF else dtype


@dataclass(frozen=True)
class Merging(Subject):
    """One way to merge: plain functions of a problem, and what they leave out.

    forward: the State of both. backward: Gradients. call: the output as its caller sees it.
    """

    forward: Callable[[Problem], State]
    backward: Callable[[Problem], Gradients] = not_offered
    call: Callable[[Problem], Call] = not_offered

    about: ClassVar[str] = "merging"
    offering: ClassVar[Mapping[str, str]] = {
        Capability.GRADIENTS: "backward",
        Capability.CALL: "call",
    }
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {**CONVENTIONS, **GRADIENTS}
