"""The vocabulary of dropout: a problem of attention, a rate, a mode and a seed.

Axes, arrays and words are those of `spec.notation`, with as many key heads as query heads.

    p               the rate: each weight is dropped with probability p, and kept with 1 - p
    kept m_ij       True where the weight of key j for query i was kept    (B, H, N, M)
    w_ij            m_ij a_ij / (1 - p), the weights that are used; o = w v

`seed` is what the source of randomness starts from: the same seed, the same mask. The random
numbers of a clause itself (`chance`) are drawn from another stream of the same seed.
"""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar

from spec.attention.conventions import OF_UNITS
from spec.attention.notation import Gradients
from spec.attention.notation import Problem as Attention
from spec.attention.options import KINDS, Capability, kinds_of
from spec.attention.record import Implementation
from spec.notation import Array, Call, Length, Posed, once
from spec.stream import Stream
from spec.subject import GRADIENTS, Subject, not_offered

Modes = tuple[bool, ...]  # of calls in a row: True for training, False for evaluation


@dataclass(frozen=True, eq=False)
class Problem(Posed):
    """Attention with dropout on its weights, and the loss <dout, o> to differentiate.

    q: (B, H, N, D)   k: (B, H, M, D)   v: (B, H, M, E)   dout: (B, H, N, E)
    mask: (N, M) bool, True where query i may attend to key j, or None.
    p: the rate. training: whether it applies.
    """

    q: Array
    k: Array
    v: Array
    dout: Array
    p: float
    _: KW_ONLY
    training: bool = True
    mask: Array | None = None
    causal: bool = False
    scale: float | None = None

    axes: ClassVar[Mapping[str, str]] = {
        "q": "B H N D",
        "k": "B H M D",
        "v": "B H M E",
        "dout": "B H N E",
        "mask": "N M",
    }

    @once
    def attention(self) -> Attention:
        """The same problem without dropout."""
        return Attention(**self.only(Attention))

    @property
    def rate(self) -> float:
        """The rate that applies: p in training, 0 in evaluation."""
        return self.p if self.training else 0.0

    B = Length("q", 0)
    H = Length("q", 1)
    N = Length("q", 2)
    M = Length("k", 2)
    D = Length("q", 3)
    E = Length("v", 3)

    @property
    def allowed(self) -> Array:
        """True where query i may attend to key j.   (B, H, N, M)"""
        return self.attention.allowed

    def chance(self) -> Stream:
        """A source of choices that depends on `seed` alone, and is not that of the masks."""
        return Stream(self.seed, 1)


@dataclass(frozen=True)
class Dropout(Subject):
    """One way to compute attention with dropout: plain functions of a problem.

    forward: o (B, H, N, E), its source of randomness at the problem's seed.
    sequence: the outputs of calls in a row, one for each mode, on one instance and from one
        source of randomness, which starts at the seed and runs on.
    backward: Gradients, with the mask that the forward pass has from the same seed.
    weights: those that it shows, (B, H, N, M).
    call: the forward pass as its caller sees it.
    """

    forward: Callable[[Problem], Array]
    sequence: Callable[[Problem, Modes], tuple[Array, ...]]
    backward: Callable[[Problem], Gradients] = not_offered
    weights: Callable[[Problem], Array] = not_offered
    call: Callable[[Problem], Call] = not_offered
    answers: frozenset[str] = field(default=KINDS, kw_only=True)
    differentiates: frozenset[str] = field(default=KINDS, kw_only=True)

    about: ClassVar[str] = "dropout"
    offering: ClassVar[Mapping[str, str]] = {
        Capability.GRADIENTS: "backward",
        Capability.WEIGHTS: "weights",
        Capability.CALL: "call",
    }
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {**OF_UNITS, **GRADIENTS}

    otherwise: ClassVar[Mapping[str, str | None]] = Implementation.otherwise

    def kinds_of(self, problem: Problem) -> frozenset[str]:
        """The kinds of problem that `problem` is; empty for the core."""
        return self.counted(kinds_of(problem.attention))
