"""The correct steps of a cache. A known bug replaces one of them.

    start                   makes an empty cache
    count, take, grow       count the tokens of a chunk, convert them, and make room for them
    write, fetch            store tokens, and read them
    scale, visible          attend to what is stored; share, weigh, combine and finish are
                            those of `spec.attention.mistakes.steps`
    forget, branch          roll back, and fork

All positions in memory are read, and those without a visible token are masked. Programs whose
shapes must not change do the same. After the end of a sequence, memory keeps what it held before.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spec.cache.reading import put
from spec.notation import Array

ROOM = 8  # positions of an empty cache


@dataclass
class Kept:
    """The state of a cache.

    k, v: (B, G, room, width). lengths: the number of tokens of each sequence (B,), and `high` the
    largest it ever was. chunks: the number of chunks read. window: the number of keys that a token
    may attend to, or None for all. capacity: the largest number of tokens. notes: what a known bug
    has to remember.
    """

    k: Array
    v: Array
    lengths: Array
    high: Array
    chunks: int = 0
    window: int | None = None
    capacity: int = 0
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def room(self) -> int:
        """The number of positions in memory for each sequence."""
        return int(self.k.shape[2])


def start(batch: int, key_heads: int, width: int, value_width: int, dtype: Any) -> Kept:
    """An empty cache with room for a few tokens."""
    k = np.zeros((batch, key_heads, ROOM, width), dtype)
    v = np.zeros((batch, key_heads, ROOM, value_width), dtype)
    return Kept(k, v, np.zeros(batch, int), np.zeros(batch, int))


def count(counts: Array | None, batch: int, n: int) -> Array:
    """How many of the n tokens of a chunk are not padding, for each sequence."""
    return np.full(batch, n) if counts is None else counts


def take(x: Array) -> Array:
    """The keys or values as they are stored."""
    return x


def grow(x: Array, length: int) -> Array:
    """The content of x in an array with room for `length`, doubled as often as necessary."""
    room = x.shape[2]
    while room < length:
        room *= 2
    larger = np.zeros((*x.shape[:2], room, x.shape[3]), x.dtype)
    larger[:, :, : x.shape[2]] = x
    return larger


def write(kept: Kept, key: Array, value: Array, counts: Array) -> None:
    """Write each token after the last one of its sequence."""
    put(kept.k, key, kept.lengths, counts)
    put(kept.v, value, kept.lengths, counts)


def fetch(kept: Kept) -> tuple[Array, Array]:
    """The keys and values at all positions in memory."""
    return kept.k, kept.v


def scale(width: int, _: Array) -> Any:
    """1 / sqrt(D), whatever the lengths are."""
    return 1 / np.sqrt(width)


def visible(kept: Kept, before: Array, n: int) -> Array:
    """True where position j is not after token i of the chunk, and in its window.   (B, n, room)

    before: the number of tokens before the chunk.   (B,)
    """
    own = before[:, None] + np.arange(n)
    behind = own[..., None] - np.arange(kept.room)
    return np.asarray((behind >= 0) & (behind < (kept.window or np.inf)))


def forget(kept: Kept, lengths: Array) -> None:
    """Set the lengths: rolled-back tokens then lie after the end."""
    kept.lengths = lengths


def branch(kept: Kept) -> Kept:
    """A copy of the cache that has its own memory."""
    arrays = (kept.k.copy(), kept.v.copy(), kept.lengths.copy(), kept.high.copy())
    notes = {name: list(x) for name, x in kept.notes.items()}
    return Kept(*arrays, kept.chunks, kept.window, kept.capacity, notes)
