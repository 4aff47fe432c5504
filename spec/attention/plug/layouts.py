"""How functions have their arrays: the heads before the length or behind it, or no such axis.

A problem has (B, H, length, width). Where a function has a single leading axis, batch and heads
are folded into it, so that head h of sequence b stands at b H + h, and reads key head b G + g.
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
    def lacks(self) -> frozenset[str]:
        """The kinds of problem for which there is no axis."""
        of_tokens = {Capability.POSITIONED, Capability.POSITIONED_ALONE, Capability.SEGMENTS}
        each = {Capability.SINKS, Capability.SLOPES, *of_tokens}  # head, or sequence
        folded = each if self.axes < 4 else set()
        none = {Capability.SEVERAL, Capability.GROUPS} if self.axes == 2 else set()
        return frozenset(folded | none)

    def shape(self, ours: Shape, inputs: bool = True) -> Shape:
        """The shape that an array of ours has; inputs: it is one, or is shaped like one."""
        if self.axes == 4 and self.swapped and inputs:
            B, H, *rest = ours
            return (B, rest[0], H, *rest[1:])
        if self.axes == 4:
            return ours
        leading = (ours[0] * ours[1],) if self.axes == 3 else ()
        return (*leading, *ours[2:])

    def put(self, x: Array) -> Array:
        """An input, or a cotangent, as the function has it. Raises Refused: it has no axis."""
        if self.axes == 2 and x.shape[:2] != (1, 1):
            raise Refused(f"arrays {self.words} have no axis for sequences and heads")
        return x.swapaxes(1, 2) if self.swapped else x.reshape(self.shape(x.shape))

    def back(self, x: Array, ours: Shape, inputs: bool = True) -> Array:
        """An array of the function as we have it."""
        return x.swapaxes(1, 2) if self.swapped and inputs else x.reshape(ours)

    def mask(self, x: Array, B: int, H: int) -> Array:
        """A mask as the function takes it: a broadcast one has no batch and heads to fold."""
        if self.axes == 4 or x.ndim == 2:
            return x
        rows = x.shape[-2:]
        return np.broadcast_to(x, (B, H, *rows)).reshape(self.shape((B, H, *rows)))


LAYOUTS: Mapping[str, Layout] = {
    "bhld": Layout("(batch, heads, length, width)"),
    "blhd": Layout("(batch, length, heads, width)", swapped=True),
    "hld": Layout("(batch and heads in one, length, width)", axes=3),
    "ld": Layout("(length, width)", axes=2),
}
