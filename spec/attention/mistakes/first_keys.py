"""Known bugs of leading keys, which a window keeps visible: how many, which ones, and when.

A window that slides over a sequence passes its first tokens, to which models give much weight. A
cache therefore keeps them in addition to the window (Xiao et al. 2024, StreamingLLM). Leading keys
are the first keys of the sequence, not of the window, and are otherwise ordinary keys.
"""

from math import log
from typing import Any

import numpy as np

from spec.attention.mistakes import placing
from spec.attention.mistakes.making import RIGHT, wrong
from spec.attention.mistakes.placing import Near, Window, ahead, around, begins
from spec.attention.mistakes.tiles import TILE
from spec.notation import Array

PASSED = "a leading key before the window"
Given = Any


def of(count: int, given: Given) -> Given:
    """The arguments with `count` leading keys instead, if there are any leading keys."""
    return given.but(sink_size=count) if given.sink_size else given


@wrong("stay", incident="BUG-07", where=PASSED)
def ignores_the_first_keys(near: Near, window: Window, _: Given) -> Array:
    """Accepts the number of leading keys, but does not keep them visible."""
    return near(window)


@wrong("stay", incident="BUG-06", where="a key after the leading ones")
def keeps_one_key_more(near: Near, window: Window, given: Given) -> Array:
    """Keeps one leading key too many: it compares with `<=` instead of `<`."""
    return placing.stay(near, window, of(given.sink_size + 1, given))


@wrong("stay", incident="BUG-06")
def keeps_one_key_less(near: Near, window: Window, given: Given) -> Array:
    """Keeps one leading key too few, and masks the last of them."""
    return placing.stay(near, window, of(given.sink_size - 1, given))


@wrong("stay", incident="plausible")
def keeps_whole_tiles(near: Near, window: Window, given: Given) -> Array:
    """Rounds the number of leading keys up to a multiple of 16, the tile size."""
    return placing.stay(near, window, of(-(-given.sink_size // TILE) * TILE, given))


@wrong("stay", incident="plausible")
def keeps_first_keys_of_one_tile(near: Near, window: Window, given: Given) -> Array:
    """Keeps at most 16 leading keys, those of the first tile, however many are requested."""
    return placing.stay(near, window, of(min(given.sink_size, TILE), given))


@wrong("stay", incident="plausible")
def keeps_the_last_keys(near: Near, window: Window, given: Given) -> Array:
    """Keeps the last keys of the array visible instead of the leading ones."""
    if not given.sink_size:
        return near(window)
    last = np.arange(given.key.shape[2]) >= given.key.shape[2] - given.sink_size
    return np.asarray(near(window) | (last & near((None, window[1]))))


@wrong("stay", incident="plausible")
def shows_first_keys_ahead(near: Near, window: Window, given: Given) -> Array:
    """Keeps leading keys visible even where they lie beyond the right bound of the window."""
    return near(window) | begins(given) if given.sink_size else near(window)


@wrong("stay", incident="plausible")
def takes_first_keys_from_the_window(near: Near, window: Window, given: Given) -> Array:
    """Shortens the window on the left by the number of leading keys, as if they were part of it."""
    left, right = window
    if not given.sink_size or left is None:
        return near(window)
    shown = near((max(left - given.sink_size, 0), right))
    return np.asarray(shown | (begins(given) & near((None, right))))


@wrong("stay", incident="BUG-44")
def keeps_the_first_rows(near: Near, window: Window, given: Given) -> Array:
    """Keeps the keys in the first rows of the array, not those at the first positions."""
    rows = np.arange(given.key.shape[2]) < given.sink_size
    return np.asarray(near(window) | (rows & near((None, window[1]))))


@wrong("stay", incident="BUG-07", where=f"causal and {PASSED}")
def forgets_first_keys_beside_causality(near: Near, window: Window, given: Given) -> Array:
    """Does not keep leading keys in causal calls, which take a separate code path."""
    return near(window) if given.is_causal else placing.stay(near, window, given)


@wrong("stay", incident="BUG-07", where=f"a mask and {PASSED}")
def forgets_first_keys_beside_a_mask(near: Near, window: Window, given: Given) -> Array:
    """Does not keep leading keys if a mask is given, as if the mask included them."""
    return placing.stay(near, window, given) if given.attn_mask is None else near(window)


@wrong("stay", incident="plausible", where=f"an attention sink and {PASSED}")
def takes_sinks_for_the_first_keys(near: Near, window: Window, given: Given) -> Array:
    """Does not keep leading keys if attention sinks are given: it treats the two as one feature."""
    return placing.stay(near, window, given) if given.sinks is None else near(window)


@wrong("slant", incident="plausible")
def counts_first_keys_twice(s: Array, sigma: float, given: Given) -> Array:
    """Counts a leading key twice if it also lies in the window."""
    s = RIGHT.slant(s, sigma, given)
    if not given.sink_size:
        return s
    both = begins(given) & around(given, given.window_size)
    return s + np.asarray(log(2) * both).astype(s.dtype)


@wrong("slant", incident="BUG-42", where=f"ALiBi slopes and {PASSED}")
def has_first_keys_stand_next_to_the_window(s: Array, sigma: float, given: Given) -> Array:
    """Measures ALiBi distances as if the leading keys stood directly before the window."""
    left = given.window_size[0]
    if given.alibi_slopes is None or not given.sink_size or left is None:
        return RIGHT.slant(s, sigma, given)
    passed = begins(given) & (ahead(given) < -left)
    _, r = placing.rows(given) if given.key_positions is None else placing.positions(given)
    near = left + given.sink_size - r[:, None, None, :]
    moved = np.where(passed, near - placing.apart(given), 0)
    slopes = given.alibi_slopes.reshape(-1, s.shape[1], 1, 1)
    return RIGHT.slant(s, sigma, given) - (slopes * moved).astype(s.dtype)


@wrong("stay", spoils="gradient", incident="BUG-07", where=f"gradients asked for and {PASSED}")
def differentiates_without_first_keys(near: Near, window: Window, _: Given) -> Array:
    """Leaves out the leading keys in the backward pass, which uses the window alone."""
    return near(window)
