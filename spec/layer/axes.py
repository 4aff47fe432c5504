"""In which order a layer keeps the axes of its matrices.

    "W_q"                    (out, in), as torch has it: y = x W^T
    "W_q (in, out)"          acts from the right: y = x W
    "W_q (H, in, D)"         a matrix for each head, one array or a list of them
    "W_o (H, D, out)"        the rows of the output projection, head by head
    "b_q (H, D)"             a bias for each head

The axis `out` of W_q, W_k and W_v, and `in` of W_o, has the heads one after the other: it is H and
D, the heads and what belongs to each.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import permutations

from spec.layer.notation import BIASES
from spec.notation import Array

OURS = ("W_q", "W_k", "W_v", "W_o", *BIASES)
AXES = ("in", "out", "H", "D")
ORDER = r"\(((?:in|out|H|D)(?:, (?:in|out|H|D))*)\)"  # as it is written


def parts_of(text: str) -> list[str]:
    """The parameters that stand in an array: of "W_q W_k (in, out)", W_q and W_k."""
    return text.partition("(")[0].split()


def order_of(text: str) -> tuple[str, ...]:
    """The axes that are written behind the parameters; none where they are as torch's."""
    found = re.search(ORDER, text)
    return tuple(found[1].split(", ")) if found else ()


def fault_of(text: str) -> str:
    """An error in the axes of an array, in words; "" if there is none."""
    parts, order = parts_of(text), order_of(text)
    if "(" in text and not re.fullmatch(rf"[^(]*\s{ORDER}\s*", text):
        return f"{text!r} has no such axes: write them as (in, out), (H, in, D) or (H, D, out)"
    if order and len(parts) > 1 and "H" in order:
        return f"{text!r}: several matrices in one array have the axes (out, in) or (in, out)"
    for part in parts if order else ():
        whole, split = _axes(part), _axes(part, split=True)
        if sorted(order) not in (sorted(whole), sorted(split)):
            listed = " or ".join(f"({', '.join(x)})" for x in dict.fromkeys((whole, split)))
            return f"{text!r}: {part} has the axes {listed}, in any order"
    return ""


def laid(x: Array, text: str, width: int) -> Array:
    """An array of parameters as torch has it, in the order that a text says.

    width: of a head.
    """
    order, part = order_of(text), parts_of(text)[0]
    if not order:
        return x
    if "H" in order:
        place = _axes(part).index("in" if part == "W_o" else "out")
        x = x.reshape(*x.shape[:place], -1, width, *x.shape[place + 1 :])
    axes = _axes(part, split="H" in order)
    return x.transpose([axes.index(axis) for axis in order])


def gathered(x: Array, text: str) -> Array:
    """An array from `laid`, with the axes of torch."""
    order, part = order_of(text), parts_of(text)[0]
    if not order:
        return x
    axes = _axes(part, split="H" in order)
    x = x.transpose([order.index(axis) for axis in axes])
    if "H" not in order:
        return x
    place = axes.index("H")
    return x.reshape(*x.shape[:place], -1, *x.shape[place + 2 :])


def fitting(x: Array, parts: Sequence[str], width: int, shape: tuple[int, ...]) -> Iterator[str]:
    """The texts that lay parameters out in a shape, the likeliest first.

    x: the parameters as torch has them. Heads come first in most layers, and what they take next.
    """
    names, kinds = " ".join(parts), (False, True) if len(parts) == 1 else (False,)
    for split in kinds:
        axes = _axes(parts[0], split=split)
        usual = ("H", "in", "D") if "in" in axes and split else axes
        orders = sorted(permutations(axes), key=lambda order: (order != usual, order[0] != "H"))
        for order in orders:
            text = names if order == _axes(parts[0]) else f"{names} ({', '.join(order)})"
            if laid(x, text, width).shape == shape:
                yield text


def turned(text: str) -> str:
    """The text of an array that has the axes `in` and `out` the other way round."""
    order = order_of(text) or _axes(parts_of(text)[0])
    if len(order) == 1:
        return text
    ends = [axis for axis in order if axis != "H"]
    swap = dict(zip(ends, reversed(ends), strict=True))
    written = tuple(swap.get(axis, axis) for axis in order)
    names = " ".join(parts_of(text))
    return names if written == _axes(parts_of(text)[0]) else f"{names} ({', '.join(written)})"


def _axes(part: str, split: bool = False) -> tuple[str, ...]:
    """The axes of a parameter as torch has them; split: with that of heads apart."""
    heads = ("H", "D") if split else ("out",)
    if part == "b_o":
        return ("out",)
    if part == "W_o":
        return ("out", *(("H", "D") if split else ("in",)))
    return heads if part in BIASES else (*heads, "in")
