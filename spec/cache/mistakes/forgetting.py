"""Windows: what a cache forgets, which has to be what no token of the chunk still sees.

A ring of as many places as the window has keys is right for single tokens. Of a chunk the last
token sees what the ring then holds, and the first has to see what it held before.
"""

from dataclasses import replace

import numpy as np

from spec.cache.mistakes.making import wrong
from spec.cache.mistakes.steps import Kept, visible
from spec.notation import Array

LONG = "a text beyond the window"
CHUNKS = f"{LONG} and a chunk of several tokens"


@wrong("visible", incident="I07", where=LONG)
def forgets_nothing(kept: Kept, before: Array, n: int) -> Array:
    """Takes a window and keeps all keys in sight, as a full cache does."""
    return visible(seeing(kept, None), before, n)


@wrong("visible", incident="I07", where=CHUNKS)
def has_windows_for_single_tokens_alone(kept: Kept, before: Array, n: int) -> Array:
    """Leaves forgetting to the ring, and the mask of a prompt is causal."""
    return visible(kept if n == 1 else seeing(kept, None), before, n)


@wrong("visible", incident="I06", where=LONG)
def sees_one_key_beyond_its_window(kept: Kept, before: Array, n: int) -> Array:
    """Counts the keys of a window beside the token's own, and not with it."""
    return visible(seeing(kept, kept.window and kept.window + 1), before, n)


@wrong("visible", incident="I06", where="a window and N > 1")
def forgets_one_key_too_early(kept: Kept, before: Array, n: int) -> Array:
    """Clears the place of the oldest key before the token that is to see it is answered."""
    return visible(seeing(kept, kept.window and max(kept.window - 1, 1)), before, n)


@wrong("visible", incident="I29", citation="pytorch/executorch#20346", where=CHUNKS)
def forgets_before_a_chunk_is_answered(kept: Kept, before: Array, n: int) -> Array:
    """Has the last keys alone when a chunk is answered, of which its first tokens see more."""
    left = np.arange(kept.room) >= (kept.lengths - (kept.window or kept.room))[:, None]
    own = np.arange(kept.room) == (before[:, None] + np.arange(n))[..., None]
    return visible(kept, before, n) & (left[:, None] | own)


@wrong("fetch", incident="I27", citation="Lightning-AI/litgpt#2182", where=CHUNKS)
def writes_round_the_ring_before_it_reads(kept: Kept) -> tuple[Array, Array]:
    """Has the latest key in each place of the ring, whichever token of the chunk asks."""
    W, places = kept.window or kept.room, np.arange(kept.room)
    wraps = np.maximum((kept.lengths[:, None] - 1 - places) // W, 0)
    latest = (places + W * wraps)[:, None, :, None]
    return (np.take_along_axis(kept.k, latest, axis=2), np.take_along_axis(kept.v, latest, axis=2))


def seeing(kept: Kept, window: int | None) -> Kept:
    """The same with another window."""
    return replace(kept, window=window)
