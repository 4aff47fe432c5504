"""A matrix as a small picture in SVG: colours by the numbers, and the numbers if they fit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from spec.notation import Array

MOST = 32  # rows and columns that are drawn
READ = 8  # rows and columns of which the numbers are printed
LETTER, PAD, LINE = 6.9, 14.0, 26.0  # of a cell: width of a letter, room beside it, height
SMALL = (4.0, 14.0)  # the side of a cell without a number
HEAD = 16.0  # where places are counted
FAINT, FULL = 0.06, 0.52  # opacity of the least and of the most: letters stay readable on both


@dataclass(frozen=True, eq=False)
class Heat:
    """A matrix to draw.

    name: of the array. array (rows, columns). top: the absolute value with the full colour. hidden:
    True for hatched cells. worst: the entry that is marked. wrong: True for wrong entries; if it is
    given, colours show only this.
    """

    name: str
    array: Array
    top: float = 1.0
    hidden: Array | None = None
    worst: tuple[int, int] | None = None
    wrong: Array | None = None

    @property
    def shown(self) -> Array:
        """The rows and columns that are drawn."""
        return self.array[:MOST, :MOST]

    @property
    def printed(self) -> bool:
        """Whether its numbers are printed."""
        return max(self.shown.shape, default=0) <= READ

    @property
    def cell(self) -> tuple[float, float]:
        """Width and height of a cell."""
        if self.printed:
            longest = max((len(number(x)) for x in self.shown.flat), default=1)
            return max(34.0, LETTER * longest + PAD), LINE
        side = min(SMALL[1], max(SMALL[0], 240 / max(self.shown.shape)))
        return side, side


def number(x: object) -> str:
    """A number in a few letters."""
    if isinstance(x, bool | np.bool_):
        return "true" if x else "false"
    if isinstance(x, int | np.integer):
        return str(x).replace("-", "−")
    value = float(x)  # type: ignore[arg-type]
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.3g}".replace("-", "−").replace("e+0", "e").replace("e−0", "e−")


def svg(heat: Heat) -> str:
    """The picture. Its title has all printed numbers, for readers who do not see them."""
    width, height = heat.cell
    rows, columns = heat.shown.shape
    left = HEAD if heat.printed else 0.0
    size = left + columns * width + 1, left + rows * height + 1
    root = Element("svg", _frame(size))
    SubElement(root, "title").text = spoken(heat)
    if heat.printed:
        _counted(root, heat, width, height)
    for i, j in np.ndindex(rows, columns):
        root.append(_cell(heat, (i, j), (left + j * width, left + i * height)))
    if heat.worst is not None and max(heat.worst) < MOST:
        i, j = heat.worst
        box = _box("worst", left + j * width + 1, left + i * height + 1, width - 2, height - 2)
        root.append(box)
    return tostring(root, encoding="unicode")


def spoken(heat: Heat) -> str:
    """A matrix in words."""
    rows, columns = heat.array.shape
    words = f"{heat.name}, {rows} by {columns}"
    if not heat.printed:
        return words
    return f"{words}: " + "; ".join(", ".join(row) for row in _said(heat))


def _said(heat: Heat) -> Iterator[list[str]]:
    for i, entries in enumerate(heat.shown):
        yield ["hidden" if _hidden(heat, (i, j)) else number(x) for j, x in enumerate(entries)]


def _frame(size: tuple[float, float]) -> dict[str, str]:
    width, height = (f"{x:g}" for x in size)
    box = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    return {"class": "heat", "role": "img", **box}


def _counted(root: Element, heat: Heat, width: float, height: float) -> None:
    """Add the numbers of rows and columns, with the letters of their axes."""
    rows, columns = heat.shown.shape
    for j in range(columns):
        root.append(_text(str(j), HEAD + (j + 0.5) * width, HEAD - 5, "place"))
    for i in range(rows):
        root.append(_text(str(i), HEAD - 8, HEAD + (i + 0.5) * height + 4, "place"))


def _text(words: str, x: float, y: float, kind: str) -> Element:
    found = Element("text", {"class": kind, "x": f"{x:g}", "y": f"{y:g}"})
    found.text = words
    return found


def _box(kind: str, x: float, y: float, width: float, height: float) -> Element:
    place = {"x": x, "y": y, "width": width, "height": height}
    return Element("rect", {"class": kind, **{n: f"{v:g}" for n, v in place.items()}})


def _cell(heat: Heat, at: tuple[int, int], corner: tuple[float, float]) -> Element:
    """One entry: its colour, hatching if it is hidden, and its number."""
    (x, y), (width, height) = corner, heat.cell
    value, hidden = heat.shown[at], _hidden(heat, at)
    group = Element("g")
    if not heat.printed:
        SubElement(group, "title").text = f"{at[0]}, {at[1]}: {number(value)}"
    kind, share = ("hid", None) if hidden else _colour(heat, at)
    box = _box(kind, x, y, width, height)
    if share is not None:
        box.set("fill-opacity", f"{FAINT + (FULL - FAINT) * share:.2f}")
    group.append(box)
    if heat.printed:
        lowest = hidden and not np.isfinite(value)
        group.append(_text("" if lowest else number(value), x + width / 2, y + height / 2 + 4, "n"))
    return group


def _hidden(heat: Heat, at: tuple[int, int]) -> bool:
    return heat.hidden is not None and bool(heat.hidden[at])


def _colour(heat: Heat, at: tuple[int, int]) -> tuple[str, float | None]:
    """The colour of an entry, and its opacity."""
    value = float(heat.shown[at])
    if heat.wrong is not None:
        return ("neg", 0.7) if heat.wrong[at] else ("pos", 0.0)
    if not math.isfinite(value):
        return "odd", None
    share = min(1.0, abs(value) / heat.top) if heat.top else 0.0
    return ("neg" if value < 0 else "pos"), share
