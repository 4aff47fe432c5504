"""Ways to make an attention problem simpler; each offers smaller ones, the smallest first."""

from collections.abc import Iterator

import numpy as np

from spec.attention.moves import of_groups
from spec.attention.notation import Problem
from spec.attention.options import ARRAYS, PARAMETERS
from spec.notation import Array
from spec.simplify import FAR, Simplification, kept, simpler


def batches(problem: Problem) -> Iterator[Problem]:
    """Fewer batch elements."""
    for index in kept(problem.B):
        yield problem.part("B", index)


def heads(problem: Problem) -> Iterator[Problem]:
    """Fewer key heads, with the query heads that read them; then smaller groups."""
    if not problem.G:
        return
    group = problem.H // problem.G
    for index in kept(problem.G):
        yield of_groups(problem, index)
    for index in kept(group):
        readers = (np.arange(problem.G)[:, None] * group + index).reshape(-1)
        yield problem.part("H", readers)


def lengths(problem: Problem) -> Iterator[Problem]:
    """Fewer queries and keys: together where they are as many, and each on its own."""
    if problem.N == problem.M:
        for index in kept(problem.N):
            yield problem.part("N", index).part("M", index)
    for index in kept(problem.N):
        yield problem.part("N", index)
    for index in kept(problem.M):
        yield problem.part("M", index)


def widths(problem: Problem) -> Iterator[Problem]:
    """Fewer columns: of keys and values together where they are as wide, and each on its own."""
    if problem.D == problem.E:
        for index in kept(problem.D):
            yield problem.part("D", index).part("E", index)
    for index in kept(problem.D):
        yield problem.part("D", index)
    for index in kept(problem.E):
        yield problem.part("E", index)


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


WAYS: tuple[Simplification, ...] = (batches, heads, lengths, widths, options, masks, numbers)
