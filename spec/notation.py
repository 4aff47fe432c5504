"""The vocabulary of the specification: symbols, axes, problems, gradients.

Axes
    B batch    H query heads    G key heads    N queries    M keys
    D score width    E value width

Arrays
    q (B, H, N, D)    k (B, G, M, D)    v (B, G, M, E)    o (B, H, N, E)
    s scores, a weights, bias b: (B, H, N, M)    lse (B, H, N)
    dout is shaped like o; dq, dk, dv like q, k, v

Indices
    i is a query, j a key, c a column of a value; s_ij = scale <q_i, k_j> + b_ij

Words
    A key that the mask hides from a query is *forbidden* to it. A query from
    which every key is hidden is *idle*.

Every array of a problem holds float64 numbers that `dtype`, the format under
test, represents exactly; so a bfloat16 problem needs no bfloat16 in NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Grade = Literal["strict", "flash", "eager"]
Corner = Literal["top-left", "bottom-right"]
Memory = Literal["contiguous", "transposed", "strided", "offset", "expanded"]

GRADES: tuple[Grade, ...] = ("strict", "flash", "eager")  # each allows all that the last one did
DTYPES = ("float64", "float32", "float16", "bfloat16")

# What the mathematics leaves open: the choices, the default first.
# Who is idle as truth values (a boolean mask, causality) hide every key follows `idle`, and
# who is so by -inf in an additive mask follows `idle bias`.
CONVENTIONS: Mapping[str, tuple[str, ...]] = {
    "idle": ("zero", "nan", "uniform"),
    "idle bias": ("as idle", "zero", "nan", "uniform"),
    "causal": ("top-left", "bottom-right"),
    "grouping": ("blocks", "interleaved"),
    "mask means": ("attend", "forbid"),
    "causality": ("asked", "always"),
    "lengths": ("any", "equal"),
}


def read_only(record: Any) -> None:
    """Have a frozen record hold its arrays as views that nobody can write through."""
    for field in fields(record):
        array = getattr(record, field.name)
        if isinstance(array, np.ndarray):
            shared = array.view()
            shared.flags.writeable = False
            object.__setattr__(record, field.name, shared)


class Length(property):
    """The length of an axis of an array, as an attribute of the problem that has the array."""

    def __init__(self, array: str, axis: int) -> None:
        super().__init__(lambda problem: int(getattr(problem, array).shape[axis]))

    if TYPE_CHECKING:

        def __get__(self, problem: Any, kind: Any = None, /) -> int: ...  # type: ignore[override]


@dataclass(frozen=True, eq=False, kw_only=True)
class Posed:
    """What a problem is put with, whatever it is about.

    dtype: the format of its arrays. rounding: what is granted to whoever answers.
    seed: settles what a clause still has to choose (a permutation, a place to cut).
    """

    dtype: str = "float64"
    rounding: Grade = "strict"
    seed: int = 0

    def __post_init__(self) -> None:
        read_only(self)

    def but(self, **changes: Any) -> Self:
        """The same problem, except for `changes`."""
        return replace(self, **changes)

    def chance(self) -> np.random.Generator:
        """A source of choices that depends on `seed` alone."""
        return np.random.default_rng(self.seed)


@dataclass(frozen=True, eq=False)
class Problem(Posed):
    """One attention problem, and the loss <dout, o> to differentiate.

    q: (B, H, N, D)   k: (B, G, M, D)   v: (B, G, M, E)   dout: (B, H, N, E)
    mask: broadcastable to (B, H, N, M), or None. Bool: True where query i may
        attend to key j. Float: added to the scores after scaling, -inf forbids.
    causal: forbids the future; `corner` tells which diagonal that is when N != M.
    scale: what is asked for; None asks for nothing, and means 1 / sqrt(D).
    memory: how the arrays lie in it.
    """

    q: Array
    k: Array
    v: Array
    dout: Array
    _: KW_ONLY
    mask: Array | None = None
    causal: bool = False
    scale: float | None = None
    corner: Corner = "top-left"
    memory: Memory = "contiguous"

    B = Length("q", 0)
    H = Length("q", 1)
    G = Length("k", 1)
    N = Length("q", 2)
    M = Length("k", 2)
    D = Length("q", 3)
    E = Length("v", 3)

    @property
    def grouped(self) -> bool:
        """Whether several query heads share a key head."""
        return self.G != self.H

    @property
    def sigma(self) -> float:
        """The scale that applies: the one asked for, else 1 / sqrt(D)."""
        return 1.0 / float(np.sqrt(self.D)) if self.scale is None else float(self.scale)

    @cached_property
    def future(self) -> Array:
        """True where key j lies in the future of query i.   (N, M)"""
        shift = self.M - self.N if self.corner == "bottom-right" else 0
        return np.arange(self.M)[None, :] > np.arange(self.N)[:, None] + shift

    @cached_property
    def allowed(self) -> Array:
        """True where query i may attend to key j.   (B, H, N, M)"""
        allowed = np.ones((self.B, self.H, self.N, self.M), dtype=bool)
        if self.mask is not None:
            allowed &= self.mask if self.mask.dtype == bool else ~np.isneginf(self.mask)
        if self.causal:
            allowed &= ~self.future
        return allowed

    @cached_property
    def bias(self) -> Array:
        """What is added to the scores, zero where a key is forbidden.   (B, H, N, M)"""
        bias = np.zeros((self.B, self.H, self.N, self.M))
        if self.mask is not None and self.mask.dtype != bool:
            bias = np.where(self.allowed, self.mask, bias)
        return bias

    @cached_property
    def idle(self) -> Array:
        """True where a query may attend to no key.   (B, H, N)"""
        return np.logical_not(self.allowed.any(axis=-1))


@dataclass(frozen=True)
class Gradients:
    """The derivatives of <dout, o>, each shaped like what it is taken by.

    bias: (B, H, N, M) or as the mask was given; None where it was not asked for.
    """

    q: Array
    k: Array
    v: Array
    bias: Array | None = None


@dataclass(frozen=True)
class Call:
    """One call of an implementation, as its caller sees it."""

    out: Array
    dtype: str
    changed: tuple[str, ...] = ()  # inputs whose content is not what it was
    aliased: tuple[str, ...] = ()  # inputs whose memory the output shares
    reused: bool = False  # a second call returned the memory of the first
