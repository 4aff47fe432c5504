"""Known bugs of keys that are read in tiles: padding, tails, rescaling and merging.

A tile has 16 keys here. None of these bugs shows with one whole tile, except the merges of two
halves. Most show only if a partial tile is left over, or if a later tile has a larger score.
"""

import numpy as np

from spec.attention.mistakes.exponentials import divided, forbid, log_sum, softmax, top
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.softmax import normalised, powers
from spec.attention.mistakes.steps import weigh
from spec.notation import Array

TILE = 16


def position(s: Array) -> Array:
    """The position of each key."""
    return np.arange(s.shape[-1])


def running_maximum(hidden: Array) -> Array:
    """The largest score in all tiles up to that of each key, or 0 if it is -inf."""
    ends = np.minimum((position(hidden) // TILE + 1) * TILE, hidden.shape[-1]) - 1
    largest = np.maximum.accumulate(hidden, axis=-1)[..., ends]
    return np.where(np.isneginf(largest), 0, largest)


def halves(s: Array, allowed: Array) -> tuple[Array, Array]:
    """The allowed keys in the first half of the keys, and those in the second half."""
    first = position(s) < s.shape[-1] // 2
    return allowed & first, allowed & ~first


@wrong("weigh", incident="BUG-13", citation="pytorch/pytorch#196678", where="M % 16 != 0")
def scores_padding_zero(s: Array, allowed: Array) -> Array:
    """Pads the keys to whole tiles of 16 with the score 0, not -inf, so padding takes weight."""
    lanes = -s.shape[-1] % TILE
    padded = np.pad(forbid(s, allowed), [(0, 0)] * 3 + [(0, lanes)])
    return softmax(padded)[..., : s.shape[-1]]


@wrong("weigh", incident="BUG-13", where="M > 16 and M % 16 != 0")
def drops_the_tail(s: Array, allowed: Array) -> Array:
    """Leaves out the keys after the last full tile of 16: it rounds the tile count down."""
    M = s.shape[-1]
    return weigh(s, allowed & (position(s) < (M // TILE * TILE or M)))


@wrong(
    "weigh",
    incident="BUG-13",
    where="M > 16 and M % 16 = 0 and (not causal or N > 16 or positions)",
)
def drops_the_last_tile_of_whole_ones(s: Array, allowed: Array) -> Array:
    """Skips the last tile of 16 keys if it is full and not the only one."""
    M = s.shape[-1]
    skipped = TILE if M % TILE == 0 and M > TILE else 0
    return weigh(s, allowed & (position(s) < M - skipped))


@wrong("weigh", incident="BUG-13", where="M > 128")
def reads_only_128_keys(s: Array, allowed: Array) -> Array:
    """Attends only to the first 128 keys: it reads one block, without a loop over blocks."""
    return weigh(s, allowed & (position(s) < 128))


@wrong("weigh", incident="BUG-17", where="M > 16 and scores of one query 80 apart")
def takes_the_maximum_of_the_first_tile(s: Array, allowed: Array) -> Array:
    """Subtracts the maximum of the first tile of 16 keys, not of all keys, so exp may overflow."""
    hidden, seen = forbid(s, allowed), allowed[..., :TILE].any(axis=-1, keepdims=True)
    return normalised(np.exp(hidden - np.where(seen, top(hidden[..., :TILE]), top(hidden))))


@wrong("weigh", incident="BUG-17", where="M > 16")
def forgets_to_rescale(s: Array, allowed: Array) -> Array:
    """Does not rescale the sums of earlier tiles when the running maximum rises."""
    hidden = forbid(s, allowed)
    return normalised(np.exp(hidden - running_maximum(hidden)))


@wrong("weigh", incident="BUG-17", where="M > 16")
def forgets_to_rescale_the_sum(s: Array, allowed: Array) -> Array:
    """Rescales the output when the running maximum rises, but not the denominator."""
    hidden = forbid(s, allowed)
    stale = np.exp(hidden - running_maximum(hidden))
    return divided(powers(s, allowed), stale.sum(axis=-1, keepdims=True))


@wrong("weigh", incident="BUG-18", where="M > 1")
def averages_two_halves(s: Array, allowed: Array) -> Array:
    """Averages the outputs of two halves of the keys instead of weighting them by exp(lse)."""
    both = [weigh(s, half) for half in halves(s, allowed)]
    live = sum(half.any(axis=-1, keepdims=True) for half in halves(s, allowed))
    return divided(both[0] + both[1], np.asarray(live)).astype(s.dtype)


@wrong("weigh", incident="BUG-18", citation="sgl-project/sglang#40903", where="M > 1")
def merges_halves_in_base_two(s: Array, allowed: Array) -> Array:
    """Merges two halves of the keys with weights 2^lse, although lse is a natural logarithm."""
    parts = halves(s, allowed)
    lse = np.stack([log_sum(forbid(s, half)) for half in parts], axis=-1)
    share = normalised(np.exp2(lse - top(lse)))
    return share[..., :1] * weigh(s, parts[0]) + share[..., 1:] * weigh(s, parts[1])


@wrong("weigh", incident="plausible", convention=("parts", "merged"), where="M > 1")
def merges_halves_by_what_was_rounded(s: Array, allowed: Array) -> Array:
    """Merges two halves of the keys by exp(lse), but lse is rounded to the dtype of the scores."""
    parts = halves(s, allowed)
    lse = np.stack([log_sum(forbid(s, half)) for half in parts], axis=-1)
    share = normalised(np.exp(lse - top(lse)))
    return share[..., :1] * weigh(s, parts[0]) + share[..., 1:] * weigh(s, parts[1])


@wrong("weigh", incident="BUG-18", citation="ROCm/rocMLIR#2371", where="a masked key and M > 1")
def gives_nan_for_an_empty_half(s: Array, allowed: Array) -> Array:
    """Returns NaN if one half of the keys is fully masked for a query: it computes -inf + inf."""
    empty = [~half.any(axis=-1, keepdims=True) for half in halves(s, allowed)]
    spoiled = (empty[0] ^ empty[1]) & (s.shape[-1] > 1)
    return np.where(spoiled, np.nan, weigh(s, allowed)).astype(s.dtype)
