"""The correct steps that depend on positions. A known bug replaces one of them.

    place            the given positions; if only one side has them, the other has row numbers
    before, around   the keys that causality and a window leave visible, if positions are given
    stay             the window and the leading keys, which it does not mask

After `place`, both sides have positions or neither has. If neither has, row numbers are positions.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from spec.notation import Array

Pair = tuple[Array, Array]
Placed = Pair | tuple[None, None]
Window = tuple[int | None, int | None]
Near = Callable[[Window], Array]  # which keys a window leaves visible


def place(given: Any) -> Placed:
    """Positions (B, N) and (B, M), or none; if only one side has them, the other counts from 0."""
    both = given.query_positions, given.key_positions
    if both[0] is both[1] is None:
        return None, None
    p, r = (
        row if x is None else x.astype(np.int64) for x, row in zip(both, rows(given), strict=True)
    )
    return p, r


def rows(given: Any) -> Pair:
    """Row numbers, for use as positions.   (B, N) and (B, M)"""
    B, _, N, _ = given.query.shape
    return np.tile(np.arange(N), (B, 1)), np.tile(np.arange(given.key.shape[2]), (B, 1))


def in_rows(given: Any) -> Any:
    """The arguments, with row numbers as positions."""
    p, r = rows(given)
    return given.but(query_positions=p, key_positions=r)


def ahead(given: Any) -> Array:
    """r_j - p_i, the distance of key j ahead of query i.   (B, 1, N, M)"""
    p, r = rows(given) if given.query_positions is None else positions(given)
    return r[:, None, None, :] - p[:, None, :, None]


def positions(given: Any) -> Pair:
    """The given positions of queries and of keys."""
    return given.query_positions, given.key_positions


def apart(given: Any) -> Array:
    """|p_i - r_j|, the distance between a query and a key.   (B, 1, N, M)"""
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
    """True for the leading keys, at positions below `sink_size`.   (B, 1, 1, M)"""
    _, r = rows(given) if given.key_positions is None else positions(given)
    return np.asarray(r[:, None, None, :] < given.sink_size)


def stay(near: Near, window: Window, given: Any) -> Array:
    """True for the keys in the window, and for the leading keys up to its right bound."""
    if not given.sink_size:
        return near(window)
    return near(window) | (begins(given) & near((None, window[1])))
