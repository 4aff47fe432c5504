"""The right steps of a program that makes linear biases, of which mistakes replace one."""

from typing import Any

import numpy as np

from spec.mistake import Steps
from spec.notation import Array
from spec.positions.alibi.definition import largest_power_of_two


def powers(heads: int) -> Array:
    """2^(-8 h / heads), for a number of heads that is a power of two."""
    return 2.0 ** (-8 * np.arange(1, heads + 1) / heads)


def slopes(heads: int) -> Array:
    """The slopes of the largest power of two below, and then every other one of twice as many."""
    n = largest_power_of_two(heads)
    return np.concatenate([powers(n), powers(2 * n)[0::2][: heads - n]])


def distance(queries: int, keys: int) -> Array:
    """How far every key is from every query, the queries being the last tokens."""
    here = keys - queries + np.arange(queries)
    return np.abs(here[:, None] - np.arange(keys))


def charge(m: Array, d: Array) -> Array:
    """Each head's slope for every step."""
    return -m[:, None, None] * d


def finish(b: Array) -> Array:
    """The bias as it is handed out."""
    return b


def given(m: Array, published: Array) -> Array:  # noqa: ARG001 - mistakes use them
    """The slopes that the caller gave, in place of the published ones."""
    return m


def make(heads: int, queries: int, keys: int, m: Array | None, steps: Steps) -> Array:
    """The whole bias."""
    published = steps.slopes(heads)
    used = published if m is None else steps.given(m, published)
    return steps.finish(steps.charge(used, steps.distance(queries, keys)))


def leave(b: Array, dtype: Any) -> Array:
    """The bias in a format, in memory of its own."""
    return b.astype(dtype)
