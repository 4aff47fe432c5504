"""Ways to make an attention problem simpler; each offers smaller ones, the smallest first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from spec.certification.contracts.simplifying import FAR, Move, kept, simpler
from spec.notation import Array, Problem


def taken(problem: Problem, names: str, axis: int, index: Array, mask_axis: int = 0) -> Problem:
    """Only the elements `index` along an axis of some arrays, and along one (< 0) of the mask."""
    changes: dict[str, Any] = {}
    for name in names.split():
        changes[name] = getattr(problem, name).take(index, axis=axis)
    mask = problem.mask
    if mask is not None and 0 < -mask_axis <= mask.ndim and mask.shape[mask_axis] > 1:
        changes["mask"] = mask.take(index, axis=mask_axis)
    return problem.but(**changes)


def batches(problem: Problem) -> Iterator[Problem]:
    """Fewer batch elements."""
    for index in kept(problem.B):
        yield taken(problem, "q k v dout", 0, index, -4)


def heads(problem: Problem) -> Iterator[Problem]:
    """Fewer key heads, with the query heads that read them; then smaller groups."""
    if not problem.G:
        return
    group = problem.H // problem.G
    for index in kept(problem.G):
        readers = (index[:, None] * group + np.arange(group)).reshape(-1)
        yield taken(taken(problem, "k v", 1, index), "q dout", 1, readers, -3)
    for index in kept(group):
        readers = (np.arange(problem.G)[:, None] * group + index).reshape(-1)
        yield taken(problem, "q dout", 1, readers, -3)


def lengths(problem: Problem) -> Iterator[Problem]:
    """Fewer queries and keys: together where they are as many, and each on its own."""
    if problem.N == problem.M:
        for index in kept(problem.N):
            yield taken(taken(problem, "q dout", 2, index, -2), "k v", 2, index, -1)
    for index in kept(problem.N):
        yield taken(problem, "q dout", 2, index, -2)
    for index in kept(problem.M):
        yield taken(problem, "k v", 2, index, -1)


def widths(problem: Problem) -> Iterator[Problem]:
    """Fewer columns: of keys and values together where they are as wide, and each on its own."""
    if problem.D == problem.E:
        for index in kept(problem.D):
            yield taken(taken(problem, "q k", 3, index), "v dout", 3, index)
    for index in kept(problem.D):
        yield taken(problem, "q k", 3, index)
    for index in kept(problem.E):
        yield taken(problem, "v dout", 3, index)


def options(problem: Problem) -> Iterator[Problem]:
    """An option less, or a plainer one."""
    if problem.mask is not None:
        yield problem.but(mask=None)
    if problem.causal:
        yield problem.but(causal=False)
    if problem.scale is not None:
        yield problem.but(scale=None)
        if problem.scale != 1.0:
            yield problem.but(scale=1.0)
    if problem.memory != "contiguous":
        yield problem.but(memory="contiguous")
    if problem.seed:
        yield problem.but(seed=0)


def masks(problem: Problem) -> Iterator[Problem]:
    """A mask of fewer axes, one that forbids less, one with plainer numbers."""
    mask = problem.mask
    if mask is None:
        return
    if mask.ndim > 2:
        yield problem.but(mask=mask[0])
    for axis in range(mask.ndim - 2):
        if mask.shape[axis] > 1:
            yield problem.but(mask=mask.take([0], axis=axis))
    plain = True if mask.dtype == bool else 0.0
    if mask.size <= FAR:
        for place in np.argwhere(mask != plain):
            changed = mask.copy()
            changed[tuple(place)] = plain
            yield problem.but(mask=changed)
    if mask.dtype != bool:
        yield from (problem.but(mask=other) for other in simpler(mask))


def numbers(problem: Problem) -> Iterator[Problem]:
    """Simpler numbers: zeros and ones, whole ones, fewer bits; all of an array, then one by one."""
    for name in ("dout", "v", "k", "q"):
        yield from (problem.but(**{name: x}) for x in simpler(getattr(problem, name)))


MOVES: tuple[Move, ...] = (batches, heads, lengths, widths, options, masks, numbers)
