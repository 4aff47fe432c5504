"""How functions have their arrays: the length behind the heads or before them, or no such axis.

A problem has (B, H, length, width). Where a function has one axis less and no other order, batch
and heads are folded into one, so that head h of sequence b stands at b H + h, and reads key head
b G + g. If it lacks an axis, there is only one sequence, or one sequence and one head; or it has
the tokens of all sequences along one axis (`packing`), or its keys in a cache (`paging`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from spec.attention.notation import Problem
from spec.attention.options import MASK, OF_TOKENS, OPTIONS, POSITIONS, Capability
from spec.attention.plug.packing import Packing, packed
from spec.attention.plug.paging import NEW, Pages, Paging, paged
from spec.attention.plug.serving import Serving, served
from spec.attention.plug.signature import Signature
from spec.backends import Unsuitable
from spec.notation import Array
from spec.subject import Refused

Shape = tuple[int, ...]
USUAL = "bhld"


@dataclass(frozen=True)
class Layout:
    """The axes of a function's arrays, in words; how many; whether the length stands before H.

    first: whether it stands before B as well. packs: whether the axis of the length is that of all
    tokens. pages: those of its keys, if it has them in a cache. told: the arguments that give the
    positions of tokens: none. writes: whether it writes into its arguments: it does not.
    """

    words: str
    axes: int = 4
    swapped: bool = False
    first: bool = False
    packs: bool = False
    pages: Pages | None = None

    told: ClassVar[Mapping[str, Array | int]] = {}
    writes: ClassVar[bool] = False

    @property
    def single(self) -> int:
        """How many of B and H have no axis."""
        return 4 - self.axes if self.swapped or self.axes == 2 else 0

    @property
    def lacks(self) -> frozenset[str]:
        """The kinds of problem for which there is no axis."""
        held = {
            Capability.PAGES: self.pages and True in self.pages.tables,
            Capability.ADDED: self.pages and True in self.pages.adds,
            Capability.SPARE: self.packs,
        }
        unheld = {capability for capability, has in held.items() if not has}
        if self.packs or self.pages:
            lacking = {o.capability for o in OPTIONS if UNPACKED.intersection(o.parameters)}
            return frozenset({*lacking, *unheld, Capability.SLOPES_EACH})
        of_tokens = {o.capability for o in OPTIONS if {*OF_TOKENS}.intersection(o.parameters)}
        sequences = {Capability.SLOPES_EACH, *of_tokens} if self.axes < 4 else set()
        heads = set() if self.swapped or self.axes == 4 else {Capability.SINKS, Capability.SLOPES}
        none = (set(), {Capability.BATCHES}, {Capability.BATCHES, *HEADS})[self.single]
        return frozenset(sequences | heads | none | unheld)

    def of(self, problem: Problem) -> "Lying":
        """How the arrays of a problem lie. Raises Refused: not in pages."""
        if not self.packs:
            return paged(problem, self.pages) if self.pages else self
        in_pages = self.pages and (problem.page or False not in self.pages.tables)
        return served(problem, self.pages) if self.pages and in_pages else packed(problem)

    def shape(self, ours: Shape, like: str = "q") -> Shape:
        """The shape that an array of ours has; like: the input that it is shaped like, if any."""
        if self.single or self.axes == 4:
            kept = self._ordered(ours) if like else ours
            return kept[self.single :]
        return (ours[0] * ours[1], *ours[2:])

    @property
    def order(self) -> tuple[int, ...]:
        """Where our axes B, H, length and width stand, in the function's order."""
        return (2, 0, 1, 3) if self.first else (0, 2, 1, 3) if self.swapped else (0, 1, 2, 3)

    def _ordered(self, ours: Shape) -> Shape:
        return tuple(ours[axis] for axis in self.order if axis < len(ours))

    def put(self, x: Array, like: str) -> Array:
        """An input, or a cotangent, as the function has it. Raises Refused: it has no axis.

        like: the input that it is shaped like, if any.
        """
        if any(size != 1 for size in x.shape[: self.single]):
            missing = " and ".join(("sequences", "heads")[: self.single])
            raise Refused(f"arrays {self.words} have no axis for {missing}")
        shape = self.shape(x.shape, like)
        return (x.transpose(self.order[: x.ndim]) if like else x).reshape(shape)

    def back(self, x: Array, ours: Shape, like: str = "q") -> Array:
        """An array of the function as we have it."""
        if like:
            return x.reshape(self._ordered(ours)).transpose(np.argsort(self.order[: len(ours)]))
        return x.reshape(ours)

    def mask(self, x: Array, B: int, H: int) -> Array:
        """A mask as the function takes it: a broadcast one has no batch and heads to fold.

        Raises Refused: nobody hands one to who packs, or reads from a cache.
        """
        if self.packs or self.pages:
            raise Refused(f"arrays {self.words} have no mask")
        if self.axes == 4 or x.ndim == 2:
            return x
        whole = (B, H, *x.shape[-2:])
        return np.broadcast_to(x, whole).reshape(self.shape(whole, like=""))


Lying = Layout | Packing | Paging | Serving  # how the arrays of a problem lie


def laid(layout: str, title: str, signature: Signature) -> Layout:
    """The layout of that name, or instead of the usual one the layout for those parameters.

    title: what the function is called. Raises Unsuitable: it has other parameters.
    """
    packs = "cu_seqlens_q" in signature.carried  # and may have keys in pages as well
    caches = "cache_seqlens" in signature.carried and not packs
    wanted = {"cumulative lengths": packs, "numbers of keys": caches}

    def has(form: Layout) -> dict[str, bool]:
        return dict(zip(wanted, (form.packs, form.pages is not None), strict=True))

    form = LAYOUTS[layout]
    if layout == USUAL:
        form = next(x for x in LAYOUTS.values() if has(x) == wanted)
    for what, is_told in wanted.items():
        if has(form)[what] != is_told:
            raise Unsuitable(f"layout {layout}: {title} takes {'' if is_told else 'no '}{what}")
    if packs and "block_table" in signature.carried:
        words = f"{form.words}, and paged keys (pages, positions, heads, width)"
        form = replace(form, words=words, pages=Pages(swapped=True, packed=True))
    return form if form.pages is None else replace(form, pages=taken(form.pages, signature))


def taken(pages: Pages, signature: Signature) -> Pages:
    """Of these pages what a function takes: with a table or without, and with new keys or none."""

    def ways(has: bool, demanded: bool) -> tuple[bool, ...]:
        return (*[True] * has, *[False] * (not has or not demanded))

    carried, asked = signature.carried, signature.required
    if pages.packed:  # new keys are among those in pages
        carried = {ours: name for ours, name in carried.items() if ours not in NEW.values()}
    tables = ways("block_table" in carried, "block_table" in asked)
    adds = ways(NEW["k"] in carried, NEW["k"] in asked)
    return replace(pages, tables=tables, adds=adds)


def of_places(layout: Layout, places: int) -> Layout:
    """The layout with pages of so many places alone."""
    assert layout.pages
    pages = replace(layout.pages, places=places)
    return replace(layout, words=f"{layout.words}, {places} positions to a page", pages=pages)


HEADS = (Capability.SEVERAL, Capability.GROUPS)
PACKED = Layout("(tokens of all sequences, heads, width)", axes=3, swapped=True, packs=True)
PAGED: Mapping[str, Layout] = {
    "plhd": Layout(
        "(batch, length, heads, width), and paged keys (pages, positions, heads, width)",
        swapped=True,
        pages=Pages(swapped=True),
    ),
    "phld": Layout(
        "(batch, heads, length, width), and paged keys (pages, heads, positions, width)",
        pages=Pages(swapped=False),
    ),
}
LAYOUTS: Mapping[str, Layout] = {
    "thd": PACKED,
    **PAGED,
    **{f"{name}{x}": of_places(form, x) for name, form in PAGED.items() for x in (16, 64, 256)},
    "bhld": Layout("(batch, heads, length, width)"),
    "blhd": Layout("(batch, length, heads, width)", swapped=True),
    "lbhd": Layout("(length, batch, heads, width)", swapped=True, first=True),
    "hld": Layout("(batch and heads in one, length, width)", axes=3),
    "lhd": Layout("(length, heads, width)", axes=3, swapped=True),
    "ld": Layout("(length, width)", axes=2),
}
UNPACKED = {MASK, *POSITIONS}  # what no packed function is told
