"""The search for the smallest problem that still breaks a clause.

Each move offers simpler problems: fewer elements along an axis, an option less,
simpler numbers. One that still breaks the clause is kept, and the search goes on
from there, until no move helps or the time is over. The definition must keep the
clause on whatever is kept, so the search cannot leave a clause's domain unnoticed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from spec.certification.running import broken
from spec.certification.truth import truth
from spec.clause import Clause
from spec.implementation import Capability, Implementation, kinds_of
from spec.notation import Array, Problem

Move = Callable[[Problem], Iterator[Problem]]
FAR = 24  # arrays of at most so many numbers are simplified number by number


def reduced(
    clause: Clause,
    implementation: Implementation,
    problem: Problem,
    answers: frozenset[Capability],
    seconds: float,
) -> tuple[Problem, bool]:
    """A smaller problem that breaks the clause, and whether no move makes it smaller still."""
    definition = truth()
    allowed = answers | kinds_of(problem)
    guarded = _holds(clause, definition, problem)

    def fails(candidate: Problem) -> bool:
        if not kinds_of(candidate) <= allowed or not _breaks(clause, implementation, candidate):
            return False
        return not guarded or _holds(clause, definition, candidate)

    return smallest(problem, fails, time.monotonic() + seconds)


def smallest(
    problem: Problem, fails: Callable[[Problem], bool], deadline: float
) -> tuple[Problem, bool]:
    """The end of the search from `problem`, and whether it came to an end before the deadline."""
    before = None
    while before is not problem:
        before = problem
        for move in MOVES:
            found: Problem | None = problem
            while found is not None:
                problem = found
                found = None
                for candidate in move(problem):
                    if time.monotonic() > deadline:
                        return problem, False
                    if fails(candidate):
                        found = candidate
                        break
    return problem, True


def _breaks(clause: Clause, implementation: Implementation, problem: Problem) -> bool:
    try:
        return broken(clause, implementation, problem) is not None
    except Exception:  # a clause may trip over a problem that is none of its own
        return False


def _holds(clause: Clause, implementation: Implementation, problem: Problem) -> bool:
    try:
        return broken(clause, implementation, problem) is None
    except Exception:  # as above
        return False


def _kept(size: int) -> Iterator[Array]:
    """Ways to keep fewer of `size` elements: without a half, a quarter, ..., a single one."""
    chunk = size // 2
    everything = np.arange(size)
    while chunk:
        for start in range(0, size, chunk):
            kept = np.delete(everything, slice(start, start + chunk))
            if kept.size:
                yield kept
        chunk //= 2


def _taken(problem: Problem, names: str, axis: int, index: Array, mask_axis: int = 0) -> Problem:
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
    for index in _kept(problem.B):
        yield _taken(problem, "q k v dout", 0, index, -4)


def heads(problem: Problem) -> Iterator[Problem]:
    """Fewer key heads, with the query heads that read them; then smaller groups."""
    if not problem.G:
        return
    group = problem.H // problem.G
    for index in _kept(problem.G):
        readers = (index[:, None] * group + np.arange(group)).reshape(-1)
        yield _taken(_taken(problem, "k v", 1, index), "q dout", 1, readers, -3)
    for index in _kept(group):
        readers = (np.arange(problem.G)[:, None] * group + index).reshape(-1)
        yield _taken(problem, "q dout", 1, readers, -3)


def lengths(problem: Problem) -> Iterator[Problem]:
    """Fewer queries and keys: together where they are as many, and each on its own."""
    if problem.N == problem.M:
        for index in _kept(problem.N):
            yield _taken(_taken(problem, "q dout", 2, index, -2), "k v", 2, index, -1)
    for index in _kept(problem.N):
        yield _taken(problem, "q dout", 2, index, -2)
    for index in _kept(problem.M):
        yield _taken(problem, "k v", 2, index, -1)


def widths(problem: Problem) -> Iterator[Problem]:
    """Fewer columns: of keys and values together where they are as wide, and each on its own."""
    if problem.D == problem.E:
        for index in _kept(problem.D):
            yield _taken(_taken(problem, "q k", 3, index), "v dout", 3, index)
    for index in _kept(problem.D):
        yield _taken(problem, "q k", 3, index)
    for index in _kept(problem.E):
        yield _taken(problem, "v dout", 3, index)


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
        yield from _simpler(problem, "mask")


def numbers(problem: Problem) -> Iterator[Problem]:
    """Simpler numbers: zeros and ones, whole ones, fewer bits; all of an array, then one by one."""
    for name in ("dout", "v", "k", "q"):
        yield from _simpler(problem, name)


def _simpler(problem: Problem, name: str) -> Iterator[Problem]:
    x = getattr(problem, name)
    cost = _cost(x)
    for other in _plainer(x):
        if _cost(other) < cost:
            yield problem.but(**{name: other})
    if x.size <= FAR:
        for place in np.ndindex(*x.shape):
            for number in _plainer(x[place]):
                if _cost(number) < _cost(x[place]):
                    changed = x.copy()
                    changed[place] = number
                    yield problem.but(**{name: changed})


def _plainer(x: Any) -> Iterator[Array]:
    """The finite numbers of `x`, coarser and coarser ones last."""
    finite = np.isfinite(x)
    for other in (np.zeros_like(x), np.ones_like(x), -np.ones_like(x), np.sign(x)):
        yield np.where(finite, other, x)
    for bits in (0, 1, 3):
        yield np.where(finite, np.round(np.where(finite, x, 0) * 2**bits) / 2**bits, x)
    with np.errstate(all="ignore"):
        fraction, power = np.frexp(np.where(finite, x, 0))
    for bits in (1, 2, 4, 8):
        coarse = np.ldexp(np.trunc(fraction * 2**bits), power - bits)
        yield np.where(finite, coarse, x)


def _cost(x: Any) -> float:
    """How much there is to read in numbers: the bits of numerators and denominators."""
    return sum(map(_bits, np.asarray(x, dtype=float).reshape(-1).tolist()))


def _bits(number: float) -> float:
    if not np.isfinite(number):
        return 1.0
    over, under = number.as_integer_ratio()
    return over.bit_length() + under.bit_length() - 1 + 0.5 * (number < 0)


MOVES: tuple[Move, ...] = (batches, heads, lengths, widths, options, masks, numbers)
