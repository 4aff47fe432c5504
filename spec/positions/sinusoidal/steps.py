"""The right steps of a program that adds sinusoidal positions, of which mistakes replace one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spec.mistake import described
from spec.notation import Array
from spec.positions.sinusoidal.plug import encoding


def place(first: int, length: int) -> Array:
    """The positions of `length` tokens, the first of which stands at `first`."""
    return first + np.arange(length)


def frequency(width: int, number: type[np.floating]) -> Array:
    """One frequency for every pair of columns."""
    return np.power(number(10000), -np.arange(0, width, 2).astype(number) / number(width))


def angle(positions: Array, theta: Array) -> Array:
    """Position times frequency."""
    return positions[:, None].astype(theta.dtype) * theta


def weave(angle: Array, width: int) -> Array:
    """Sines in even columns, cosines in odd ones."""
    rows = np.empty((len(angle), width), angle.dtype)
    rows[:, 0::2] = np.sin(angle)
    rows[:, 1::2] = np.cos(angle)[:, : width // 2]
    return rows


def rows(first: int, length: int, width: int, steps: Steps) -> Array:
    """The table from `first` on, in the width of the accumulators."""
    theta = steps.frequency(width, steps.number)
    return steps.weave(steps.angle(steps.place(first, length), theta), width)


def join(x: Array, table: Array) -> Array:
    """Tokens plus positions."""
    return x + table


def leave(y: Array, x: Array) -> Array:
    """The sum in the format of the tokens, in memory of its own."""
    return y.astype(x.dtype)


def receive(dout: Array, x: Array, table: Array) -> Array:  # noqa: ARG001 - mistakes use them
    """The cotangent, which passes through an addition."""
    return dout


@dataclass(frozen=True)
class Steps:
    """The steps, in the order in which they are taken."""

    place: Callable[..., Any] = place
    frequency: Callable[..., Any] = frequency
    angle: Callable[..., Any] = angle
    weave: Callable[..., Any] = weave
    rows: Callable[..., Any] = rows
    join: Callable[..., Any] = join
    leave: Callable[..., Any] = leave
    receive: Callable[..., Any] = receive
    number: type[np.floating] = np.float64


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


def wrong(step: str, **facts: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The program with one step replaced by the decorated function; facts: of its Mistake."""

    def decorate(replacement: Callable[..., Any]) -> Callable[..., Any]:
        one: dict[str, Any] = {step: replacement}
        return described(program(Steps(**one)), replacement, load=encoding, **facts)

    return decorate
