"""Problems of any kind as JSON has them, and back.

An array is its shape, its dtype, and its numbers one after the other; where the same ones follow
each other for long, `runs` of a number and how often it comes: a kernel that takes no small problem
has thousands.
"""

import math
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, get_args, get_type_hints

import numpy as np

from spec.notation import Array
from spec.written import LONG, run_starts, values

ARRAY = {"shape", "dtype"}


def problem_to_json(problem: Any) -> dict[str, Any]:
    """A problem as JSON has it: numbers that JSON lacks are written as words."""
    return {name: _to_json(x) for name, x in values(problem)}


def problem_from_json(kind: type, written: Mapping[str, Any]) -> Any:
    """The problem of a kind that `problem_to_json` wrote."""
    hints = get_type_hints(kind)
    return kind(**{name: _from_json(hints[name], x) for name, x in written.items()})


def number(x: Any) -> Any:
    """A number, or the word for one that JSON has no number for."""
    if isinstance(x, float) and not math.isfinite(x):
        return str(x)
    return list(x) if isinstance(x, tuple) else x


def _to_json(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return _array_to_json(x)
    return problem_to_json(x) if is_dataclass(x) else number(x)


def _array_to_json(x: Array) -> dict[str, Any]:
    """An array as JSON has it, as short as its numbers allow."""
    told: dict[str, Any] = {"shape": list(x.shape), "dtype": str(x.dtype)}
    flat = x.reshape(-1)
    starts = run_starts(flat)
    if len(starts) * LONG >= x.size:
        return told | {"numbers": [number(entry) for entry in flat.tolist()]}
    often = np.diff(starts, append=x.size).tolist()
    runs = zip(flat[starts].tolist(), often, strict=True)
    return told | {"runs": [[number(entry), n] for entry, n in runs]}


def _from_json(hint: Any, written: Any) -> Any:
    if not isinstance(written, Mapping):
        return tuple(written) if isinstance(written, list) else written
    if {*written} - {"numbers", "runs"} == ARRAY:
        runs = written.get("runs") or [(x, 1) for x in written["numbers"]]
        numbers = [float(x) if isinstance(x, str) else x for x, often in runs for _ in range(often)]
        return np.array(numbers, dtype=written["dtype"]).reshape(written["shape"])
    inside = next(kind for kind in (hint, *get_args(hint)) if is_dataclass(kind))
    return problem_from_json(inside, written)  # type: ignore[arg-type]
