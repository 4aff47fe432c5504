"""First keys that stay in sight: how many, of what, and whether anybody asks.

A window that slides over a text passes its first tokens, on which models put much of their weight;
so a cache keeps them beside the window (Xiao et al. 2024, StreamingLLM). They are of the text and
not of the window, and are keys like all others.
"""

from math import log
from typing import Any

import numpy as np

from spec.attention.mistakes import placing
from spec.attention.mistakes.making import RIGHT, wrong
from spec.attention.mistakes.placing import Near, Window, ahead, around, begins
from spec.attention.mistakes.tiles import TILE
from spec.notation import Array

PASSED = "a first key behind the window"
Given = Any


def of(count: int, given: Given) -> Given:
    """What is given, with so many first keys instead, if there are any."""
    return given.but(sink_size=count) if given.sink_size else given


@wrong("stay", incident="I07", where=PASSED)
def ignores_the_first_keys(near: Near, window: Window, _: Given) -> Array:
    """Takes how many there are, and hands it on to nobody."""
    return near(window)


@wrong("stay", incident="I06", where="a key behind the first ones")
def keeps_one_key_more(near: Near, window: Window, given: Given) -> Array:
    """Compares with `<=`, and so keeps the key behind the last one."""
    return placing.stay(near, window, of(given.sink_size + 1, given))


@wrong("stay", incident="I06")
def keeps_one_key_less(near: Near, window: Window, given: Given) -> Array:
    """Counts from one, and so loses the last of them."""
    return placing.stay(near, window, of(given.sink_size - 1, given))


@wrong("stay", incident="plausible")
def keeps_whole_tiles(near: Near, window: Window, given: Given) -> Array:
    """Reads the tiles that hold first keys, and has no mask within them."""
    return placing.stay(near, window, of(-(-given.sink_size // TILE) * TILE, given))


@wrong("stay", incident="plausible")
def keeps_first_keys_of_one_tile(near: Near, window: Window, given: Given) -> Array:
    """Reads the first tile of keys beside the window, however many keys are to stay."""
    return placing.stay(near, window, of(min(given.sink_size, TILE), given))


@wrong("stay", incident="plausible")
def keeps_the_last_keys(near: Near, window: Window, given: Given) -> Array:
    """Counts from the end of the cache, where the newest keys are."""
    if not given.sink_size:
        return near(window)
    last = np.arange(given.key.shape[2]) >= given.key.shape[2] - given.sink_size
    return np.asarray(near(window) | (last & near((None, window[1]))))


@wrong("stay", incident="plausible")
def shows_first_keys_ahead(near: Near, window: Window, given: Given) -> Array:
    """Adds the first keys to what a window shows, and some lie ahead of it."""
    return near(window) | begins(given) if given.sink_size else near(window)


@wrong("stay", incident="plausible")
def takes_first_keys_from_the_window(near: Near, window: Window, given: Given) -> Array:
    """Has room for as many keys as a window, the first ones among them."""
    left, right = window
    if not given.sink_size or left is None:
        return near(window)
    shown = near((max(left - given.sink_size, 0), right))
    return np.asarray(shown | (begins(given) & near((None, right))))


@wrong("stay", incident="I44")
def keeps_the_first_rows(near: Near, window: Window, given: Given) -> Array:
    """Keeps the keys in the first rows, whatever places they have in the text."""
    rows = np.arange(given.key.shape[2]) < given.sink_size
    return np.asarray(near(window) | (rows & near((None, window[1]))))


@wrong("stay", incident="I07", where=f"causal and {PASSED}")
def forgets_first_keys_beside_causality(near: Near, window: Window, given: Given) -> Array:
    """Has a causal path of its own, which knows windows and no first keys."""
    return near(window) if given.is_causal else placing.stay(near, window, given)


@wrong("stay", incident="I07", where=f"a mask and {PASSED}")
def forgets_first_keys_beside_a_mask(near: Near, window: Window, given: Given) -> Array:
    """Takes a mask that is given to say which keys stay."""
    return placing.stay(near, window, given) if given.attn_mask is None else near(window)


@wrong("stay", incident="plausible", where=f"a sink and {PASSED}")
def takes_sinks_for_the_first_keys(near: Near, window: Window, given: Given) -> Array:
    """Has one word for two things: who gives a sink, needs no first keys."""
    return placing.stay(near, window, given) if given.sinks is None else near(window)


@wrong("slant", incident="plausible")
def counts_first_keys_twice(s: Array, sigma: float, given: Given) -> Array:
    """Reads the first keys and then the window, and those that lie in both twice."""
    s = RIGHT.slant(s, sigma, given)
    if not given.sink_size:
        return s
    both = begins(given) & around(given, given.window_size)
    return s + np.asarray(log(2) * both).astype(s.dtype)


@wrong("slant", incident="I42", where=f"slopes and {PASSED}")
def has_first_keys_stand_next_to_the_window(s: Array, sigma: float, given: Given) -> Array:
    """Counts places in the cache, where the first keys stand just before the window."""
    left = given.window_size[0]
    if given.alibi_slopes is None or not given.sink_size or left is None:
        return RIGHT.slant(s, sigma, given)
    passed = begins(given) & (ahead(given) < -left)
    _, r = placing.rows(given) if given.key_positions is None else placing.positions(given)
    near = left + given.sink_size - r[:, None, None, :]
    moved = np.where(passed, near - placing.apart(given), 0)
    slopes = given.alibi_slopes.reshape(-1, s.shape[1], 1, 1)
    return RIGHT.slant(s, sigma, given) - (slopes * moved).astype(s.dtype)


@wrong("stay", spoils="gradient", incident="I07", where=f"gradients asked for and {PASSED}")
def differentiates_without_first_keys(near: Near, window: Window, _: Given) -> Array:
    """Goes through the window alone in the backward pass."""
    return near(window)
