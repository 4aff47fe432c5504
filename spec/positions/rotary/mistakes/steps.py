"""The correct steps of a program that rotates by positions. A known bug replaces one of them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from spec.mistake import Steps
from spec.notation import Array


class Options(NamedTuple):
    """The options of a call: positions (N) or (B, N), and the number of columns to rotate."""

    positions: Array
    base: float
    width: int
    columns: int
    number: type[np.floating]


def place(positions: Array, x: Array) -> Array:  # noqa: ARG001 - mistakes use it
    """The positions of the tokens of x, for each batch element or for all.   (B or 1, N)"""
    return positions if positions.ndim == 2 else positions[None]


def frequency(options: Options) -> Array:
    """One frequency for every pair of the columns that are rotated."""
    number, width = options.number, options.width
    return np.power(number(options.base), -np.arange(0, width, 2).astype(number) / number(width))


def angle(positions: Array, theta: Array) -> Array:
    """Position times frequency.   (B or 1, N, pairs)"""
    return positions[..., None].astype(theta.dtype) * theta


def spread(x: Array, heads: int) -> Array:  # noqa: ARG001 - mistakes use them
    """Cosines or sines that broadcast over the heads.   (B or 1, 1, N, pairs)"""
    return x[:, None]


def hands(angle: Array) -> tuple[Array, Array]:
    """The cosine and the sine of an angle."""
    return np.cos(angle), np.sin(angle)


def turn(x: Array, c: Array, s: Array) -> Array:
    """The array with every pair of neighbouring columns rotated."""
    y = np.empty_like(x)
    even, odd = x[..., 0::2], x[..., 1::2]
    y[..., 0::2] = even * c - odd * s
    y[..., 1::2] = even * s + odd * c
    return y


def rest(x: Array, width: int) -> Array:  # noqa: ARG001 - mistakes use them
    """The columns that are not rotated, unchanged."""
    return x


def leave(y: Array, x: Array) -> Array:
    """The rotated array in the dtype of x, in its own memory."""
    return y.astype(x.dtype)


def rotate(x: Array, options: Options, steps: Steps, back: bool = False) -> Array:
    """x rotated by its positions, or rotated back."""
    width = options.width
    if width % 2:
        raise ValueError(f"a width of {width} has a column without a partner")
    angle = steps.angle(steps.place(options.positions, x), steps.frequency(options))
    c, s = (steps.spread(part, x.shape[1]) for part in steps.hands(angle))
    wide = x.astype(options.number)
    y = steps.turn(wide[..., :width], c, -s if back else s)
    return steps.leave(np.concatenate([y, steps.rest(wide[..., width:], width)], axis=-1), x)


def receive(dout: Array, options: Options, steps: Steps) -> Array:
    """The cotangent rotated back."""
    return rotate(dout, options, steps, back=True)


def ready(q: Array, k: Array, v: Array, turned: Callable[[Array], Array]) -> tuple[Array, ...]:
    """Queries and keys rotated, and values unchanged."""
    return turned(q), turned(k), v
