"""The right steps about places: where tokens stand, and what goes by that.

    place            the positions that are given, and where one side has none its rows
    before, around   what causality and a window leave a query where there are positions
    stay             the first keys, which no window passes

Behind `place` there are positions of both sides, or of neither, and then rows are the places.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from spec.notation import Array

Pair = tuple[Array, Array]
Placed = Pair | tuple[None, None]
Window = tuple[int | None, int | None]
Near = Callable[[Window], Array]  # which keys a window shows each query


def place(given: Any) -> Placed:
    """Positions (B, N) and (B, M), where there are any: one side that has none counts from 0."""
    both = given.query_positions, given.key_positions
    if both[0] is both[1] is None:
        return None, None
    p, r = (
        row if x is None else x.astype(np.int64) for x, row in zip(both, rows(given), strict=True)
    )
    return p, r


def rows(given: Any) -> Pair:
    """The numbers of rows in the place of positions.   (B, N) and (B, M)"""
    B, _, N, _ = given.query.shape
    return np.tile(np.arange(N), (B, 1)), np.tile(np.arange(given.key.shape[2]), (B, 1))


def in_rows(given: Any) -> Any:
    """What is given, with the numbers of rows for positions."""
    p, r = rows(given)
    return given.but(query_positions=p, key_positions=r)


def ahead(given: Any) -> Array:
    """How far key j lies ahead of query i.   (B, 1, N, M)"""
    p, r = rows(given) if given.query_positions is None else positions(given)
    return r[:, None, None, :] - p[:, None, :, None]


def positions(given: Any) -> Pair:
    """Those of queries and of keys, which are there."""
    return given.query_positions, given.key_positions


def apart(given: Any) -> Array:
    """|p_i - r_j|, how many places lie between a query and a key.   (B, 1, N, M)"""
    return np.abs(ahead(given))


def before(given: Any) -> Array:
    """True where key j is not in the future of query i.   (B, 1, N, M)"""
    return ahead(given) <= 0


def around(given: Any, window: Window) -> Array:
    """True where key j lies in the window of query i.   (B, 1, N, M)"""
    left, right = window
    seen = np.ones((1, 1, 1, 1), dtype=bool)
    seen = seen if left is None else seen & (ahead(given) >= -left)
    return seen if right is None else seen & (ahead(given) <= right)


def begins(given: Any) -> Array:
    """True for each of the first keys of the text.   (B, 1, 1, M)"""
    _, r = rows(given) if given.key_positions is None else positions(given)
    return np.asarray(r[:, None, None, :] < given.sink_size)


def stay(near: Near, window: Window, given: Any) -> Array:
    """What a window shows, and the first keys as well, as far ahead as it reaches."""
    if not given.sink_size:
        return near(window)
    return near(window) | (begins(given) & near((None, window[1])))
