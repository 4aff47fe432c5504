"""The right steps of a cache, of which every mistake replaces one.

    start                   what a cache holds in which nothing was read
    count, take, grow       the tokens of a chunk that are text, and room for them
    write, fetch            where they are put, and found again
    scale, visible          the attention to what is there; share, weigh, combine and finish are
                            those of `spec.attention.mistakes.steps`
    forget, branch          taking back, and going on twice

All room is read, and what does not count is hidden: so it is done where shapes must not
change. Behind the end of a sequence lies whatever was left there.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spec.cache.reading import put
from spec.notation import Array

ROOM = 8  # places to begin with


@dataclass
class Kept:
    """What a cache remembers.

    k, v: (B, G, room, width). lengths: how many tokens each sequence has (B,), and `high` the
    most it ever had. chunks: how many were read. window: how many keys a token sees, None
    being all. notes: what a mistake has to remember.
    """

    k: Array
    v: Array
    lengths: Array
    high: Array
    chunks: int = 0
    window: int | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def room(self) -> int:
        """How many tokens of a sequence there is room for."""
        return int(self.k.shape[2])


def start(batch: int, key_heads: int, width: int, value_width: int, dtype: Any) -> Kept:
    """Room for a few tokens, of which none is there."""
    k = np.zeros((batch, key_heads, ROOM, width), dtype)
    v = np.zeros((batch, key_heads, ROOM, value_width), dtype)
    return Kept(k, v, np.zeros(batch, int), np.zeros(batch, int))


def count(counts: Array | None, batch: int, n: int) -> Array:
    """How many of the n tokens of a chunk are text, in each sequence."""
    return np.full(batch, n) if counts is None else counts


def take(x: Array) -> Array:
    """What is kept of keys or values."""
    return x


def grow(x: Array, length: int) -> Array:
    """The content of x in an array with room for `length`, twice as long as often as it takes."""
    room = x.shape[2]
    while room < length:
        room *= 2
    larger = np.zeros((*x.shape[:2], room, x.shape[3]), x.dtype)
    larger[:, :, : x.shape[2]] = x
    return larger


def write(kept: Kept, key: Array, value: Array, counts: Array) -> None:
    """Each token to the place behind the last one."""
    put(kept.k, key, kept.lengths, counts)
    put(kept.v, value, kept.lengths, counts)


def fetch(kept: Kept) -> tuple[Array, Array]:
    """Keys and values by place, all the room there is."""
    return kept.k, kept.v


def scale(width: int, _: Array) -> Any:
    """1 / sqrt(D), whatever the lengths are."""
    return 1 / np.sqrt(width)


def visible(kept: Kept, before: Array, n: int) -> Array:
    """True where place j is not after token i of the chunk, and in its window.   (B, n, room)

    before: how many tokens there were before the chunk.   (B,)
    """
    own = before[:, None] + np.arange(n)
    behind = own[..., None] - np.arange(kept.room)
    return np.asarray((behind >= 0) & (behind < (kept.window or np.inf)))


def forget(kept: Kept, lengths: Array) -> None:
    """What is taken back lies behind the end."""
    kept.lengths = lengths


def branch(kept: Kept) -> Kept:
    """The same in memory of its own."""
    arrays = (kept.k.copy(), kept.v.copy(), kept.lengths.copy(), kept.high.copy())
    return Kept(
        *arrays, kept.chunks, kept.window, {name: list(x) for name, x in kept.notes.items()}
    )
