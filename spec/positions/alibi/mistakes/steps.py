"""The correct steps of a program for linear biases. A known bug replaces one of them."""

from typing import Any

import numpy as np

from spec.mistake import Steps
from spec.notation import Array
from spec.positions.alibi.definition import largest_power_of_two


def powers(heads: int) -> Array:
    """2^(-8 h / heads) for h from 1, for a number of heads that is a power of two."""
    return 2.0 ** (-8 * np.arange(1, heads + 1) / heads)


def slopes(heads: int) -> Array:
    """The slopes of the largest power of two n <= heads, then every other slope of 2n heads."""
    n = largest_power_of_two(heads)
    return np.concatenate([powers(n), powers(2 * n)[0::2][: heads - n]])


def distance(queries: int, keys: int) -> Array:
    """The distance of each key from each query, where the queries are the last tokens.   (N, M)"""
    here = keys - queries + np.arange(queries)
    return np.abs(here[:, None] - np.arange(keys))


def charge(m: Array, d: Array) -> Array:
    """Minus the slope of each head times the distance.   (H, N, M)"""
    return -m[:, None, None] * d


def finish(b: Array) -> Array:
    """The bias, unchanged."""
    return b


def given(m: Array, published: Array) -> Array:  # noqa: ARG001 - mistakes use them
    """The slopes that the caller passes, instead of the published ones."""
    return m


def make(heads: int, queries: int, keys: int, m: Array | None, steps: Steps) -> Array:
    """The complete bias.   (H, N, M)"""
    published = steps.slopes(heads)
    used = published if m is None else steps.given(m, published)
    return steps.finish(steps.charge(used, steps.distance(queries, keys)))


def leave(b: Array, dtype: Any) -> Array:
    """The bias in the given dtype, in its own memory."""
    return b.astype(dtype)
