"""How functions have their arrays: the heads before the length or behind it, or no such axis.

A problem has (B, H, length, width). Where a function has one axis less and no other order, batch
and heads are folded into one, so that head h of sequence b stands at b H + h, and reads key head
b G + g. What it has no axis for is one: a sequence, or a sequence and a head; or it has the tokens
of all sequences along one axis (`packing`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from spec.attention.notation import Problem
from spec.attention.options import MASK, OPTIONS, POSITIONS, Capability
from spec.attention.plug.packing import Packing, packed
from spec.notation import Array
from spec.subject import Refused

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """The axes of a function's arrays, in words; how many; whether the length stands before H.

    packs: whether the axis of the length is that of all tokens.
    """

    words: str
    axes: int = 4
    swapped: bool = False
    packs: bool = False

    @property
    def single(self) -> int:
        """How many of B and H have no axis."""
        return 4 - self.axes if self.swapped or self.axes == 2 else 0

    @property
    def lacks(self) -> frozenset[str]:
        """The kinds of problem for which there is no axis."""
        if self.packs:
            lacking = {o.capability for o in OPTIONS if UNPACKED.intersection(o.parameters)}
            return frozenset({*lacking, Capability.SLOPES_EACH})
        of_tokens = {Capability.POSITIONED, Capability.POSITIONED_ALONE, Capability.SEGMENTS}
        sequences = {Capability.SLOPES_EACH, *of_tokens} if self.axes < 4 else set()
        heads = set() if self.swapped or self.axes == 4 else {Capability.SINKS, Capability.SLOPES}
        none = (set(), {Capability.BATCHES}, {Capability.BATCHES, *HEADS})[self.single]
        return frozenset(sequences | heads | none)

    def of(self, problem: Problem) -> "Layout | Packing":
        """How the arrays of a problem lie."""
        return packed(problem) if self.packs else self

    def shape(self, ours: Shape, like: str = "q") -> Shape:
        """The shape that an array of ours has; like: the input that it is shaped like, if any."""
        if self.single or self.axes == 4:
            kept = self._ordered(ours) if like else ours
            return kept[self.single :]
        return (ours[0] * ours[1], *ours[2:])

    def _ordered(self, ours: Shape) -> Shape:
        B, H, length, *rest = ours
        return (B, length, H, *rest) if self.swapped else ours

    def put(self, x: Array, like: str) -> Array:
        """An input, or a cotangent, as the function has it. Raises Refused: it has no axis."""
        del like
        if any(size != 1 for size in x.shape[: self.single]):
            missing = " and ".join(("sequences", "heads")[: self.single])
            raise Refused(f"arrays {self.words} have no axis for {missing}")
        shape = self.shape(x.shape)
        return (x.swapaxes(1, 2) if self.swapped else x).reshape(shape)

    def back(self, x: Array, ours: Shape, like: str = "q") -> Array:
        """An array of the function as we have it."""
        if self.swapped and like:
            return x.reshape(self._ordered(ours)).swapaxes(1, 2)
        return x.reshape(ours)

    def mask(self, x: Array, B: int, H: int) -> Array:
        """A mask as the function takes it: a broadcast one has no batch and heads to fold.

        Raises Refused: nobody hands one to who packs.
        """
        if self.packs:
            raise Refused(f"arrays {self.words} have no mask")
        if self.axes == 4 or x.ndim == 2:
            return x
        whole = (B, H, *x.shape[-2:])
        return np.broadcast_to(x, whole).reshape(self.shape(whole, like=""))


HEADS = (Capability.SEVERAL, Capability.GROUPS)
PACKED = Layout("(tokens of all texts, heads, width)", axes=3, swapped=True, packs=True)
LAYOUTS: Mapping[str, Layout] = {
    "thd": PACKED,
    "bhld": Layout("(batch, heads, length, width)"),
    "blhd": Layout("(batch, length, heads, width)", swapped=True),
    "hld": Layout("(batch and heads in one, length, width)", axes=3),
    "lhd": Layout("(length, heads, width)", axes=3, swapped=True),
    "ld": Layout("(length, width)", axes=2),
}
UNPACKED = {MASK, *POSITIONS}  # what no packed function is told
