"""A program that computes linear biases, built from steps of which one is wrong."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from spec import mistake
from spec.mistake import Steps
from spec.notation import Array
from spec.positions.alibi.mistakes import steps


def program(steps: Steps, conventions: Mapping[str, str] | None = None) -> Callable[..., Any]:
    """An ordinary function of sizes, which exposes its slopes and declares `conventions`."""

    def bias(
        heads: int, queries: int, keys: int, slopes: Array | None = None, dtype: Any = np.float64
    ) -> Array:
        m = None if slopes is None else slopes.astype(float)
        return steps.leave(steps.make(heads, queries, keys, m, steps), dtype)

    def shown(heads: int, dtype: np.dtype[Any]) -> Array:
        return steps.slopes(heads).astype(dtype)

    vars(bias).update(slopes=shown, conventions=conventions or {})
    return bias


wrong = partial(mistake.wrong, mistake.steps(steps), program)
