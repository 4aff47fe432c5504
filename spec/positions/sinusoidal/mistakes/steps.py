"""The correct steps of a program that adds sinusoidal positions. A known bug replaces one."""

import numpy as np

from spec.mistake import Steps
from spec.notation import Array


def place(first: int, length: int) -> Array:
    """The positions of `length` tokens, the first of which is at position `first`."""
    return first + np.arange(length)


def frequency(width: int, number: type[np.floating]) -> Array:
    """One frequency for every pair of columns."""
    return np.power(number(10000), -np.arange(0, width, 2).astype(number) / number(width))


def angle(positions: Array, theta: Array) -> Array:
    """Position times frequency."""
    return positions[:, None].astype(theta.dtype) * theta


def weave(angle: Array, width: int) -> Array:
    """A table with sines in the even columns and cosines in the odd ones."""
    rows = np.empty((len(angle), width), angle.dtype)
    rows[:, 0::2] = np.sin(angle)
    rows[:, 1::2] = np.cos(angle)[:, : width // 2]
    return rows


def rows(first: int, length: int, width: int, number: type[np.floating], steps: Steps) -> Array:
    """The table from position `first` on, in the dtype of the accumulators."""
    theta = steps.frequency(width, number)
    return steps.weave(steps.angle(steps.place(first, length), theta), width)


def join(x: Array, table: Array) -> Array:
    """The tokens plus the table."""
    return x + table


def leave(y: Array, x: Array) -> Array:
    """The sum in the dtype of the tokens, in its own memory."""
    return y.astype(x.dtype)


def receive(dout: Array, x: Array, table: Array) -> Array:  # noqa: ARG001 - mistakes use them
    """The cotangent, unchanged, as an addition passes it on."""
    return dout
