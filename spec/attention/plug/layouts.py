"""How functions have their arrays: the heads before the length or behind it, or no such axis.

A problem has (B, H, length, width). Where a function has one axis less and no other order, batch
and heads are folded into one, so that head h of sequence b stands at b H + h, and reads key head
b G + g. What it has no axis for is one: a sequence, or a sequence and a head.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from spec.attention.options import Capability
from spec.notation import Array
from spec.subject import Refused

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """The axes of a function's arrays, in words; how many; whether the length stands before H."""

    words: str
    axes: int = 4
    swapped: bool = False

    @property
    def single(self) -> int:
        """How many of B and H have no axis."""
        return 4 - self.axes if self.swapped or self.axes == 2 else 0

    @property
    def lacks(self) -> frozenset[str]:
        """The kinds of problem for which there is no axis."""
        of_tokens = {Capability.POSITIONED, Capability.POSITIONED_ALONE, Capability.SEGMENTS}
        sequences = {Capability.SLOPES_EACH, *of_tokens} if self.axes < 4 else set()
        heads = set() if self.swapped or self.axes == 4 else {Capability.SINKS, Capability.SLOPES}
        none = (set(), {Capability.BATCHES}, {Capability.BATCHES, *HEADS})[self.single]
        return frozenset(sequences | heads | none)

    def shape(self, ours: Shape, inputs: bool = True) -> Shape:
        """The shape that an array of ours has; inputs: it is one, or is shaped like one."""
        if self.single or self.axes == 4:
            kept = self._ordered(ours) if inputs else ours
            return kept[self.single :]
        return (ours[0] * ours[1], *ours[2:])

    def _ordered(self, ours: Shape) -> Shape:
        B, H, length, *rest = ours
        return (B, length, H, *rest) if self.swapped else ours

    def put(self, x: Array) -> Array:
        """An input, or a cotangent, as the function has it. Raises Refused: it has no axis."""
        if any(size != 1 for size in x.shape[: self.single]):
            missing = " and ".join(("sequences", "heads")[: self.single])
            raise Refused(f"arrays {self.words} have no axis for {missing}")
        shape = self.shape(x.shape)
        return (x.swapaxes(1, 2) if self.swapped else x).reshape(shape)

    def back(self, x: Array, ours: Shape, inputs: bool = True) -> Array:
        """An array of the function as we have it."""
        if self.swapped and inputs:
            return x.reshape(self._ordered(ours)).swapaxes(1, 2)
        return x.reshape(ours)

    def mask(self, x: Array, B: int, H: int) -> Array:
        """A mask as the function takes it: a broadcast one has no batch and heads to fold."""
        if self.axes == 4 or x.ndim == 2:
            return x
        whole = (B, H, *x.shape[-2:])
        return np.broadcast_to(x, whole).reshape(self.shape(whole, inputs=False))


HEADS = (Capability.SEVERAL, Capability.GROUPS)
LAYOUTS: Mapping[str, Layout] = {
    "bhld": Layout("(batch, heads, length, width)"),
    "blhd": Layout("(batch, length, heads, width)", swapped=True),
    "hld": Layout("(batch and heads in one, length, width)", axes=3),
    "lhd": Layout("(length, heads, width)", axes=3, swapped=True),
    "ld": Layout("(length, width)", axes=2),
}
