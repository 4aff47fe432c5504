"""The arrays of a call's result: itself, or some of several; and their source text."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from spec.backends.library import Library
from spec.notation import Array

MANY = 250  # numbers that every format has and that are not alike
FIRST = (2.0, 3.0)  # of them
Part = tuple[Any, ...]  # the places, or names, that lead to an array in an answer; () for all of it


def parts(library: Library, answer: Any) -> Iterator[tuple[Part, Any]]:
    """Yield the arrays of a result with their places: itself, or some of several."""
    if library.dtype_of(answer) is not None:
        yield (), answer
    elif isinstance(answer, tuple | list | Mapping):
        each = answer.items() if isinstance(answer, Mapping) else enumerate(answer)
        for at, x in each:
            yield from (((at, *part), y) for part, y in parts(library, x))


def part_of(answer: Any, part: Part) -> Any:
    """A part of a result, or all of it."""
    return part_of(answer[part[0]], part[1:]) if part else answer


def said(call: str, part: Part) -> str:
    """A part of a result as source text."""
    return "".join([call, *(f"[{at!r}]" for at in part)])


def with_part(answer: Any, part: Part, x: Any) -> Any:
    """A result with another array as one part of it."""
    if not part:
        return x
    at, *inner = part
    other = with_part(answer[at], (*inner,), x)
    if isinstance(answer, Mapping):
        return {**answer, at: other}
    return type(answer)([*answer[:at], other, *answer[at + 1 :]])


def other_numbers(right: Array, at: Part | None) -> Iterator[Array]:
    """Yield other numbers for a result: of one or of the other, it may be that they are right.

    Or where they are zero, others may be wrong by themselves; or anywhere but at one place, if it
    is known.
    """
    for first in FIRST:
        numbers = (np.arange(right.size).reshape(right.shape) % MANY) + first
        yield numbers
    yield np.where(right == 0, right, numbers)
    if at is not None:
        yield np.where(numbers == numbers[at], numbers, right)
