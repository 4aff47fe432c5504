"""Ways to simplify a problem of any kind: fewer elements along an axis, plainer numbers."""

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from spec.notation import Array

Simplification = Callable[[Any], Iterator[Any]]
PLACES = 16  # parts of an axis that are left out in turn, at most
FEW = (1, 2)  # elements that are kept in the last steps
FAR = 24  # arrays of at most so many numbers are simplified number by number
DIGITS = 53  # of the mantissa of a float64


def along_axes(problem: Any) -> Iterator[Any]:
    """Fewer elements along each axis, in all arrays that have its letter in `axes`."""
    for letter in problem.letters:
        having = problem.having(letter).items()
        for index in kept(min(getattr(problem, name).shape[axis] for name, axis in having)):
            yield problem.part(letter, index)


def with_defaults(problem: Any) -> Iterator[Any]:
    """One option less: each field that differs from its default, set to the default."""
    for field in fields(problem):
        x = getattr(problem, field.name)
        settled = field.name in ("dtype", "rounding") or field.default is MISSING
        if (
            not settled
            and x is not field.default
            and not (isinstance(x, int) and x == field.default)
        ):
            yield problem.but(**{field.name: field.default})


def with_other_options(problem: Any) -> Iterator[Any]:
    """One option changed: a boolean negated, or an optional one left out, where that is valid."""
    for field in fields(problem):
        x = getattr(problem, field.name)
        other = not x if isinstance(x, bool) else None
        if isinstance(x, bool) or (field.default is None and x is not None):
            with suppress(ValueError):
                yield problem.but(**{field.name: other})


def plain_numbers(problem: Any) -> Iterator[Any]:
    """Plainer numbers in each array of floats."""
    for name in problem.axes:
        x = getattr(problem, name)
        if x is not None and x.dtype.kind == "f":
            for other in simpler(x):
                yield problem.but(**{name: other})


def kept(size: int) -> Iterator[Array]:
    """Ways to keep fewer of `size` elements: without a half, ..., a single one; and one or two.

    On long axes only some single elements are left out, as no search has time for each. One or two
    may be valid where no number in between is, as for heads that form groups.
    """
    chunk = size // 2
    everything = np.arange(size)
    while chunk:
        starts = range(0, size, chunk)
        for start in starts[:: math.ceil(len(starts) / PLACES)]:
            kept = np.delete(everything, slice(start, start + chunk))
            if kept.size:
                yield kept
        chunk //= 2
    yield from (everything[:few] for few in FEW if few < size - 1)


def simpler(x: Array) -> Iterator[Array]:
    """Arrays like `x` that are easier to read: all numbers plainer, then one by one."""
    cost = _costs(x)
    others = [(other, _costs(other)) for other in _plainer(x)]
    yield from (other for other, less in others if less.sum() < cost.sum())
    if x.size <= FAR:
        for place in np.ndindex(*x.shape):
            for other, less in others:
                if less[place] < cost[place]:
                    changed = x.copy()
                    changed[place] = other[place]
                    yield changed


def _plainer(x: Any) -> Iterator[Array]:
    """`x` with plainer finite numbers: 0, 1, -1 and signs, then rounded, from coarse to fine."""
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


def _costs(x: Array) -> Array:
    """How much there is to read of each number: the bits of its numerator and denominator.

    A number is m 2^e, with m odd: of as many bits as m has, and |e|. A minus sign is half a bit.
    """
    wide = np.asarray(x, dtype=float)
    finite = np.isfinite(wide)
    fraction, power = np.frexp(np.where(finite, wide, 0))
    whole = np.ldexp(fraction, DIGITS).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(float))[1] - 1
    bits = DIGITS - zeros + np.abs(power - DIGITS + zeros) + 0.5 * (wide < 0)
    return np.where(finite, np.where(whole == 0, 0.0, bits), 1.0)


RECORDS: tuple[Simplification, ...] = (along_axes, with_defaults, plain_numbers)
