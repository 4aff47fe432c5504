"""Problems of any kind as JSON, and back.

An array is its shape, its dtype, and its numbers in order. Where equal numbers form long runs,
`runs` has each number and its count: a kernel that supports no small problem has thousands of
numbers.
"""

import math
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, get_args, get_type_hints

import numpy as np

from spec.notation import Array
from spec.typed import Misfit, typed
from spec.written import LONG, run_starts, sizes, values

ARRAY = {"shape", "dtype"}
KINDS = "biuf"  # of dtypes: booleans and numbers
WORDS = ("inf", "-inf", "nan")  # numbers that JSON lacks
MOST = 2**24  # numbers in an array: drawn ones have far fewer


def problem_to_json(problem: Any) -> dict[str, Any]:
    """A problem as JSON; numbers that JSON lacks are written as words."""
    return {name: _to_json(x) for name, x in values(problem)}


def problem_from_json(kind: type, written: Mapping[str, Any]) -> Any:
    """The problem of a class that `problem_to_json` wrote.

    Raises ValueError, TypeError or LookupError for anything that it would not have written.
    """
    hints = get_type_hints(kind)
    found = typed(kind(**{name: _from_json(hints[name], x) for name, x in written.items()}))
    sizes(found)  # raises an exception if an axis is missing
    return found


def number(x: Any) -> Any:
    """A number, or the word for it if JSON has no such number; a list for a tuple."""
    if isinstance(x, float) and not math.isfinite(x):
        return str(x)
    return list(x) if isinstance(x, tuple) else x


def _to_json(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return _array_to_json(x)
    return problem_to_json(x) if is_dataclass(x) else number(x)


def _array_to_json(x: Array) -> dict[str, Any]:
    """An array as JSON: all numbers, or long runs of equal ones."""
    told: dict[str, Any] = {"shape": list(x.shape), "dtype": str(x.dtype)}
    flat = x.reshape(-1)
    starts = run_starts(flat)
    if len(starts) * LONG >= x.size:
        return told | {"numbers": _entries(flat)}
    often = np.diff(starts, append=x.size).tolist()
    return told | {"runs": [*map(list, zip(_entries(flat[starts]), often, strict=True))]}


def _entries(x: Array) -> list[Any]:
    """The entries of an array with one axis."""
    entries: list[Any] = x.tolist()
    finite = x.dtype.kind != "f" or np.isfinite(x).all()
    return entries if finite else [number(entry) for entry in entries]


def _from_json(hint: Any, written: Any) -> Any:
    if not isinstance(written, Mapping):
        return tuple(written) if isinstance(written, list) else written
    if {*written} - {"numbers", "runs"} == ARRAY:
        return _array_from_json(written)
    inside = next((kind for kind in (hint, *get_args(hint)) if is_dataclass(kind)), None)
    if not isinstance(inside, type):
        raise Misfit("a record stands where there is none")
    return problem_from_json(inside, written)


def _array_from_json(written: Mapping[str, Any]) -> Array:
    """The array that `_array_to_json` wrote. Raises Misfit if its numbers do not fill its shape."""
    shape, dtype = written["shape"], np.dtype(written["dtype"])
    if dtype.kind not in KINDS or not all(_counts(length, 0) for length in shape):
        raise Misfit(f"no array is of the shape {shape} and of {dtype}")
    runs = written["runs"] if "runs" in written else [(x, 1) for x in written["numbers"]]
    numbers, often = [_from_word(x) for x, _ in runs], [n for _, n in runs]
    size = sum(often) if all(_counts(n, 1) for n in often) else None
    if size != math.prod(shape) or size > MOST:
        raise Misfit(f"an array of the shape {shape} does not have these numbers")
    return np.repeat(np.array(numbers, dtype), np.array(often, dtype=int)).reshape(shape)


def _counts(n: Any, least: int) -> bool:
    """Whether something is an integer, and large enough."""
    return type(n) is int and n >= least


def _from_word(x: Any) -> float:
    """A number, given as such or by its word. Raises Misfit if it is neither."""
    if isinstance(x, bool | int | float):
        return x
    if x not in WORDS:
        raise Misfit(f"{x!r} is not a number")
    return float(x)
