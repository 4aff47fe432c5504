"""The arrays of a call's result: itself, or some of several; and their source text."""

from collections.abc import Iterator, Mapping
from typing import Any

from spec.backends.library import Library

Part = tuple[Any, ...]  # the place of an array in an answer, or its name; () for all of it


def parts(library: Library, answer: Any) -> Iterator[tuple[Part, Any]]:
    """Yield the arrays of a result with their places: itself, or some of several."""
    if library.dtype_of(answer) is not None:
        yield (), answer
    elif isinstance(answer, tuple | list | Mapping):
        each = answer.items() if isinstance(answer, Mapping) else enumerate(answer)
        yield from (((at,), x) for at, x in each if library.dtype_of(x) is not None)


def part_of(answer: Any, part: Part) -> Any:
    """A part of a result, or all of it."""
    return answer[part[0]] if part else answer


def said(call: str, part: Part) -> str:
    """A part of a result as source text."""
    return f"{call}[{part[0]!r}]" if part else call


def with_part(answer: Any, part: Part, x: Any) -> Any:
    """A result with another array as one part of it."""
    if not part:
        return x
    if isinstance(answer, Mapping):
        return {**answer, part[0]: x}
    return type(answer)([*answer[: part[0]], x, *answer[part[0] + 1 :]])
