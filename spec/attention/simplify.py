"""Ways to make an attention problem simpler; each offers smaller ones, the smallest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from spec.attention.notation import Problem
from spec.attention.options import ARRAYS, PARAMETERS, along
from spec.notation import Array
from spec.simplify import FAR, Move, kept, simpler

INPUTS = {"q": "B H N D", "k": "B G M D", "v": "B G M E", "dout": "B H N E"}


@cache
def having(letter: str) -> Mapping[str, int]:
    """The arrays that may have the axis of that letter, and which one from the right."""
    axes = {name: x.split().index(letter) - 4 for name, x in INPUTS.items() if letter in x}
    return axes | along(letter)


def taken(problem: Problem, letter: str, index: Array) -> Problem:
    """Only the elements `index` along an axis, in all arrays that have it written out."""
    changes: dict[str, Any] = {}
    for name, axis in having(letter).items():
        x = getattr(problem, name)
        if x is not None and x.ndim >= -axis and x.shape[axis] > 1:
            changes[name] = x.take(index, axis=axis)
    return problem.but(**changes)


def batches(problem: Problem) -> Iterator[Problem]:
    """Fewer batch elements."""
    for index in kept(problem.B):
        yield taken(problem, "B", index)


def heads(problem: Problem) -> Iterator[Problem]:
    """Fewer key heads, with the query heads that read them; then smaller groups."""
    if not problem.G:
        return
    group = problem.H // problem.G
    for index in kept(problem.G):
        readers = (index[:, None] * group + np.arange(group)).reshape(-1)
        yield taken(taken(problem, "G", index), "H", readers)
    for index in kept(group):
        readers = (np.arange(problem.G)[:, None] * group + index).reshape(-1)
        yield taken(problem, "H", readers)


def lengths(problem: Problem) -> Iterator[Problem]:
    """Fewer queries and keys: together where they are as many, and each on its own."""
    if problem.N == problem.M:
        for index in kept(problem.N):
            yield taken(taken(problem, "N", index), "M", index)
    for index in kept(problem.N):
        yield taken(problem, "N", index)
    for index in kept(problem.M):
        yield taken(problem, "M", index)


def widths(problem: Problem) -> Iterator[Problem]:
    """Fewer columns: of keys and values together where they are as wide, and each on its own."""
    if problem.D == problem.E:
        for index in kept(problem.D):
            yield taken(taken(problem, "D", index), "E", index)
    for index in kept(problem.D):
        yield taken(problem, "D", index)
    for index in kept(problem.E):
        yield taken(problem, "E", index)


def options(problem: Problem) -> Iterator[Problem]:
    """An option less, or a plainer one."""
    for parameter in PARAMETERS:
        yield from parameter.less(problem)
    if problem.memory != "contiguous":
        yield problem.but(memory="contiguous")
    if problem.seed:
        yield problem.but(seed=0)


def masks(problem: Problem) -> Iterator[Problem]:
    """A mask of fewer axes, one that forbids less, one with plainer numbers; so for all options."""
    for option in ARRAYS:
        x = option.value(problem)
        if x is not None:
            yield from (problem.but(**{option.name: other}) for other in _plainer(x))


def _plainer(x: Array) -> Iterator[Array]:
    """Of an array that is an option."""
    if x.ndim > 2:
        yield x[0]
    for axis in range(x.ndim - 2):
        if x.shape[axis] > 1:
            yield x.take([0], axis=axis)
    plain = True if x.dtype == bool else 0.0
    if x.size <= FAR:
        for place in np.argwhere(x != plain):
            changed = x.copy()
            changed[tuple(place)] = plain
            yield changed
    if x.dtype.kind == "f":
        yield from simpler(x)


def numbers(problem: Problem) -> Iterator[Problem]:
    """Simpler numbers: zeros and ones, whole ones, fewer bits; all of an array, then one by one."""
    for name in ("dout", "v", "k", "q"):
        yield from (problem.but(**{name: x}) for x in simpler(getattr(problem, name)))


MOVES: tuple[Move, ...] = (batches, heads, lengths, widths, options, masks, numbers)
