"""Known bugs of windows. A cache may discard only keys that no token of the chunk still needs.

A ring with as many positions as the window has keys is right for single tokens. In a longer chunk,
only the last token finds its keys there: earlier tokens need keys that are overwritten by then.
"""

from dataclasses import replace

import numpy as np

from spec.cache.mistakes.making import wrong
from spec.cache.mistakes.steps import Kept, visible
from spec.notation import Array

LONG = "a sequence longer than the window"
CHUNKS = f"{LONG} and a chunk of several tokens"


@wrong("visible", incident="BUG-07", where=LONG)
def forgets_nothing(kept: Kept, before: Array, n: int) -> Array:
    """Ignores the window, and attends to all earlier keys."""
    return visible(seeing(kept, None), before, n)


@wrong("visible", incident="BUG-07", where=CHUNKS)
def has_windows_for_single_tokens_alone(kept: Kept, before: Array, n: int) -> Array:
    """Applies the window to single tokens only; a longer chunk has only a causal mask."""
    return visible(kept if n == 1 else seeing(kept, None), before, n)


@wrong("visible", incident="BUG-06", where=LONG)
def sees_one_key_beyond_its_window(kept: Kept, before: Array, n: int) -> Array:
    """Uses a window that is one key too large, as if the token's key did not count."""
    return visible(seeing(kept, kept.window and kept.window + 1), before, n)


@wrong("visible", incident="BUG-06", where="a window and N > 1")
def forgets_one_key_too_early(kept: Kept, before: Array, n: int) -> Array:
    """Uses a window that is one key too small, so the oldest visible key is discarded too early."""
    return visible(seeing(kept, kept.window and max(kept.window - 1, 1)), before, n)


@wrong("visible", incident="BUG-46", citation="pytorch/executorch#20346", where=CHUNKS)
def forgets_before_a_chunk_is_answered(kept: Kept, before: Array, n: int) -> Array:
    """Discards all but the last W keys before attending, so early tokens of a chunk miss some."""
    left = np.arange(kept.room) >= (kept.lengths - (kept.window or kept.room))[:, None]
    own = np.arange(kept.room) == (before[:, None] + np.arange(n))[..., None]
    return visible(kept, before, n) & (left[:, None] | own)


@wrong("fetch", incident="BUG-46", citation="Lightning-AI/litgpt#2182", where=CHUNKS)
def writes_round_the_ring_before_it_reads(kept: Kept) -> tuple[Array, Array]:
    """Writes a whole chunk to the ring before attending: early tokens read overwritten keys."""
    W, places = kept.window or kept.room, np.arange(kept.room)
    wraps = np.maximum((kept.lengths[:, None] - 1 - places) // W, 0)
    latest = (places + W * wraps)[:, None, :, None]
    return (np.take_along_axis(kept.k, latest, axis=2), np.take_along_axis(kept.v, latest, axis=2))


@wrong(
    "visible",
    incident="BUG-46",
    citation="ollama/ollama#14912",
    where=f"{CHUNKS} and several steps",
)
def joins_a_chunk_to_an_unsorted_ring(kept: Kept, before: Array, n: int) -> Array:
    """Joins a chunk to the ring in its memory layout, where the oldest key need not be first."""
    W, places, seen = kept.window or kept.room, np.arange(kept.room), visible(kept, before, n)
    if n == 1:
        return seen
    taken = before[:, None] - W + places % W
    joined = np.where((places < before[:, None]) & (before[:, None] >= W), taken, places)
    in_ring = places >= np.maximum(before - W, 0)[:, None]
    order = np.clip(joined, 0, None)[:, None].repeat(n, axis=1)
    return np.take_along_axis(seen, order, axis=2) & in_ring[:, None]


def seeing(kept: Kept, window: int | None) -> Kept:
    """The same cache with another window."""
    return replace(kept, window=window)
