"""A program that adds sinusoidal positions, put together from steps, one of them wrong."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from spec import mistake
from spec.notation import Array
from spec.positions.sinusoidal.mistakes.steps import RIGHT, Steps


def program(steps: Steps) -> Callable[..., Any]:
    """An ordinary function that adds positions, with a table and a backward pass of its own."""

    def encode(x: Array, first: int = 0) -> Array:
        at = replace(steps, number=np.result_type(x.dtype, np.float32).type)
        table = at.rows(first, x.shape[1], x.shape[2], at)
        return at.leave(at.join(x.astype(at.number), table), x)

    def table(length: int, width: int, first: int, dtype: np.dtype[Any]) -> Array:
        at = replace(steps, number=np.result_type(dtype, np.float32).type)
        return at.rows(first, length, width, at).astype(dtype)

    def backward(dout: Array, x: Array, first: int = 0) -> Array:
        at = replace(steps, number=np.result_type(x.dtype, np.float32).type)
        rows_here = at.rows(first, x.shape[1], x.shape[2], at)
        return at.receive(dout, x, rows_here).astype(x.dtype)

    vars(encode).update(table=table, backward=backward)
    return encode


wrong = partial(mistake.wrong, RIGHT, program)
