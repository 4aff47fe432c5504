"""A program that adds sinusoidal positions, built from steps of which one is wrong."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from spec import mistake
from spec.notation import Array
from spec.positions.sinusoidal.mistakes import steps


def program(steps: mistake.Steps) -> Callable[..., Any]:
    """An ordinary function that adds positions, with its table and its backward pass."""

    def rows(first: int, length: int, width: int, dtype: np.dtype[Any]) -> Array:
        return steps.rows(first, length, width, np.result_type(dtype, np.float32).type, steps)

    def encode(x: Array, first: int = 0) -> Array:
        here = rows(first, x.shape[1], x.shape[2], x.dtype)
        return steps.leave(steps.join(x.astype(here.dtype), here), x)

    def table(length: int, width: int, first: int, dtype: np.dtype[Any]) -> Array:
        return rows(first, length, width, dtype).astype(dtype)

    def backward(dout: Array, x: Array, first: int = 0) -> Array:
        here = rows(first, x.shape[1], x.shape[2], x.dtype)
        return steps.receive(dout, x, here).astype(x.dtype)

    vars(encode).update(table=table, backward=backward)
    return encode


wrong = partial(mistake.wrong, mistake.steps(steps), program)
