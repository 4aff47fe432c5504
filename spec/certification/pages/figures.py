"""The figures of a counterexample: its arrays, the result, the expected result, and the error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from spec.certification.judging.verdict import Counterexample
from spec.certification.pages.heat import MOST, Heat, svg
from spec.comparison import Compared
from spec.kinds import kind_of
from spec.notation import Array
from spec.picture import Picture
from spec.written import arrays

TILES = 3  # matrices of one array that are drawn, where they are small
SMALL = 256  # numbers: of larger ones, one
DRAWN = 4096  # numbers: an array of more is not


@dataclass(frozen=True)
class Figure:
    """The matrices of one array, as SVG, and their caption."""

    name: str
    caption: str
    tiles: tuple[str, ...]


@dataclass(frozen=True)
class Figures:
    """All figures of a counterexample, in reading order."""

    asked: tuple[Figure, ...]
    meant: tuple[Figure, ...]
    answered: tuple[Figure, ...]

    def __bool__(self) -> bool:
        return bool(self.asked or self.meant or self.answered)


def figures(example: Counterexample) -> Figures:
    """The figures of a counterexample."""
    problem = example.problem
    letters: Mapping[str, str] = type(problem).axes
    given = (Picture(name, x, letters.get(name, "")) for name, x in arrays(problem).items())
    meant = kind_of(example.about).reports.pictures(problem)
    compared = () if example.compared is None else tuple(_compared(example, example.compared))
    return Figures(tuple(_figures(given)), tuple(_figures(meant)), compared)


def _figures(pictures: Iterable[Picture]) -> Iterator[Figure]:
    for picture in pictures:
        if 0 < picture.array.size <= DRAWN:
            top = 1.0 if picture.share else largest(picture.array)
            yield figure(picture, top)


def largest(*found: Array) -> float:
    """The largest absolute value of finite numbers in some arrays."""
    sizes = (np.abs(np.asarray(x, dtype=np.float64)) for x in found)
    return max((float(x[np.isfinite(x)].max(initial=0.0)) for x in sizes), default=0.0)


def _compared(example: Counterexample, compared: Compared) -> Iterator[Figure]:
    """Yield the result, the expected result, and the error, with the worst entry marked."""
    got, want, within = compared.got, compared.want, compared.within
    if not got.size:
        return
    with np.errstate(invalid="ignore"):
        error = np.where(got == want, 0.0, np.abs(got - want))
        wrong = ~(error <= within)
    if compared.relation:  # a bound, and only one of its sides is wrong
        inside = got <= want if compared.relation.startswith("at most") else got >= want
        error, wrong = np.where(inside, 0.0, error), wrong & ~inside
    worst = example.place.index if example.place else None
    top, bound = largest(got, want), compared.relation.strip()
    yield figure(Picture("got", got), top, worst)
    yield figure(Picture(f"want {bound}".strip(), want), top, worst)
    yield figure(Picture("error", error), 1.0, worst, wrong)


def figure(
    picture: Picture, top: float, worst: tuple[int, ...] | None = None, wrong: Array | None = None
) -> Figure:
    """An array by its last two axes, the matrix with the worst entry first."""
    array, letters = np.atleast_2d(picture.array), picture.letters.split()
    inside = [*(np.ndindex(array.shape[:-2]))]
    at = None if worst is None else (0,) * (array.ndim - len(worst)) + worst
    if at is not None:
        inside.sort(key=lambda index: index != at[:-2])
    tiles = []
    shown = TILES if array.shape[-1] * array.shape[-2] <= SMALL else 1
    for index in inside[:shown]:
        hidden = None if picture.hidden is None else picture.hidden[index]
        marked = (at[-2], at[-1]) if at is not None and at[:-2] == index else None
        broken = None if wrong is None else np.atleast_2d(wrong)[index]
        label = " ".join(_place(index, letters, array.shape))
        name = f"{picture.name}, {label}" if label else picture.name
        tiles.append(svg(Heat(name, array[index], top, hidden, marked, broken)))
    return Figure(picture.name, _caption(array, letters, len(tiles), len(inside)), tuple(tiles))


def _place(index: tuple[int, ...], letters: list[str], shape: tuple[int, ...]) -> Iterator[str]:
    """Yield the index of a matrix, for axes with several."""
    names = letters[-len(shape) : -2] if len(letters) >= len(shape) else [""] * len(index)
    for name, place, length in zip(names, index, shape, strict=False):
        if length > 1:
            yield f"{name}={place}" if name else str(place)


def _caption(array: Array, letters: list[str], shown: int, count: int) -> str:
    """The axes that are drawn, and the number of matrices left out."""
    rows, columns = array.shape[-2:]
    words = [f"{letters[-2]} down, {letters[-1]} across"] if len(letters) > 1 else []
    if max(rows, columns) > MOST:
        words.append(f"the first {MOST} of {rows} by {columns}")
    if count > shown:
        words.append(f"{shown} of {count} matrices")
    return "; ".join(words)
