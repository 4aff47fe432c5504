"""Experiments: a problem with one thing changed: its format, numbers, a length, or an option."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields
from itertools import chain
from math import prod
from typing import Any

import numpy as np

from spec.formats import rounded
from spec.notation import Array
from spec.simplify import Simplification
from spec.stream import Stream

LENGTHS = (1, 2, 3, 4, 6, 7, 8, 9, 12, 16, 17, 24, 32, 33, 48, 64, 65, 128, 129)
MOST = 2**26  # of all lengths multiplied: what is computed of a larger problem takes gigabytes
# Problems with a longer axis are slow: others are at most so many times as large.
LONG, TIMES = 2**12, 8
RARE = (5, 11, 13, 14, 19)  # lengths that hardly any other problem has


def changed(
    twists: Simplification, problem: Any, formats: Sequence[str], lengths: Sequence[int]
) -> Iterator[Any]:
    """Yield the problem in each of the formats, with other numbers, lengths and options.

    twists: problems with an option changed. None is far larger than others are.
    """
    every = chain(
        (in_format(problem, dtype) for dtype in formats),
        (with_numbers(problem, seed) for seed in range(3)),
        *(of_lengths(problem, letter, lengths) for letter in problem.letters),
        twists(problem),
    )
    yield from no_larger(problem, every)


def no_larger(problem: Any, every: Iterable[Any]) -> Iterator[Any]:
    """Yield the problems that are not far larger than the others, nor than this one."""
    lengths = _lengths(problem)
    volume, long = prod(lengths), max(lengths) > LONG
    most = TIMES * volume if long else max(MOST, volume)
    yield from (x for x in every if prod(_lengths(x)) <= most)


def in_time(problem: Any, most: int) -> int:
    """How many problems like this one are looked at, where there is time for `most` usual ones."""
    return max(1, most * LONG // max(LONG, *_lengths(problem)))


def _lengths(problem: Any) -> list[int]:
    """The length of each of its axes."""
    arrays = (problem.having(letter).items() for letter in problem.letters)
    lengths = ([getattr(problem, name).shape[axis] for name, axis in found] for found in arrays)
    return [max(found) for found in lengths if found]


def of_lengths(problem: Any, letter: str, lengths: Sequence[int]) -> Iterator[Any]:
    """Yield the problem with other lengths of an axis, by repetition, if that is possible."""
    size = problem.length(letter)
    for length in {*lengths} - {size} if size else ():
        yield from _attempt(problem, letter, np.arange(length) % size)


def of_new_lengths(problem: Any) -> Iterator[Any]:
    """Yield the problem with rare lengths of the first axis of several arrays."""
    shared = (letter for letter in problem.letters if len(problem.having(letter)) > 1)
    for letter in [*shared][:1]:
        yield from of_lengths(problem, letter, RARE)


def _attempt(problem: Any, letter: str, index: Array) -> Iterator[Any]:
    """Yield the problem with these positions along an axis, if it is a problem."""
    try:
        yield problem.part(letter, index)
    except (ValueError, IndexError):
        return


def in_format(problem: Any, dtype: str) -> Any:
    """The problem with its numbers rounded to another format."""
    changed = {
        x.name: rounded(getattr(problem, x.name), dtype)
        for x in fields(problem)
        if getattr(getattr(problem, x.name), "dtype", None) == np.float64
    }
    return problem.but(dtype=dtype, **changed)


def with_other_contents(problem: Any, name: str) -> Iterator[Any]:
    """Yield the problem with another array of the same shape, if it has this array."""
    x = getattr(problem, name)
    if x is None or not x.size:
        return
    if x.dtype.kind == "f":
        other = rounded(Stream(0).normal(*x.shape), problem.dtype)
    else:
        other = ~x if x.dtype == bool else x + 1
    with suppress(ValueError):
        yield problem.but(**{name: other})


def with_numbers(problem: Any, seed: int) -> Any:
    """The problem with other numbers, normally distributed, in all required arrays."""
    chance = Stream(seed)
    needed = (x.name for x in fields(problem) if x.default is MISSING and x.name in problem.axes)
    found = {name: getattr(problem, name) for name in needed}
    drawn = {
        name: rounded(chance.normal(*x.shape), problem.dtype)
        for name, x in found.items()
        if x.dtype.kind == "f"
    }
    return problem.but(**drawn)
