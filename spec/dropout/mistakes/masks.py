"""Known bugs of dropout masks: shared, from the wrong source, or dependent on the weights."""

import copy
from itertools import count

import numpy as np

from spec.dropout.mistakes.making import wrong
from spec.dropout.mistakes.steps import Pass, draw
from spec.notation import Array

_calls = count()

# Shared masks


def _shared(seen: Pass, *axes: int) -> Array:
    """A mask that is the same at all positions along some axes."""
    shape = [1 if axis - 4 in axes else size for axis, size in enumerate(seen.a.shape)]
    return np.broadcast_to(seen.chance.random(shape) >= seen.rate, seen.a.shape)


@wrong("draw", incident="BUG-23", where="dropping and B > 1")
def shares_the_mask_over_the_batch(seen: Pass) -> Array:
    """Draws one mask and uses it for all batch elements."""
    return _shared(seen, -4)


@wrong("draw", incident="BUG-23", where="dropping and H > 1")
def shares_the_mask_over_heads(seen: Pass) -> Array:
    """Draws one mask and uses it for all heads."""
    return _shared(seen, -3)


@wrong("draw", incident="BUG-23", where="dropping and N > 1")
def drops_whole_keys(seen: Pass) -> Array:
    """Draws one row of the mask and uses it for all queries, so it drops whole keys."""
    return _shared(seen, -2)


@wrong("draw", incident="BUG-23", where="dropping and M > 1")
def drops_whole_queries(seen: Pass) -> Array:
    """Draws one number for each query and uses it for all keys, so it drops whole queries."""
    return _shared(seen, -1)


@wrong("draw", incident="BUG-23", where="dropping and M > 1")
def drops_keys_in_blocks(seen: Pass) -> Array:
    """Uses each random number for two neighbouring keys."""
    return draw(seen)[..., np.arange(seen.a.shape[-1]) // 2 * 2]


@wrong("draw", incident="BUG-23", where="dropping and N > 4")
def repeats_the_mask_every_four_queries(seen: Pass) -> Array:
    """Draws the mask of the first four queries, and repeats it for every further four."""
    return draw(seen)[..., np.arange(seen.a.shape[-2]) % 4, :]


@wrong("draw", incident="BUG-23", where="dropping and H > 1")
def starts_each_head_at_the_seed(seen: Pass) -> Array:
    """Starts the generator of every head in the same state, so all heads get the same mask."""
    heads = [copy.deepcopy(seen.chance) for _ in range(seen.a.shape[1])]
    shape = (seen.a.shape[0], *seen.a.shape[2:])
    kept = np.stack([chance.random(shape) >= seen.rate for chance in heads], axis=1)
    seen.chance.random(1)
    return np.asarray(kept)


# Sources


@wrong("draw", incident="BUG-23", where="dropping")
def ignores_the_seed(seen: Pass) -> Array:
    """Ignores the caller's generator, and draws with a seed of 0 in every call."""
    return np.random.default_rng(0).random(seen.a.shape) >= seen.rate


@wrong("draw", incident="BUG-23", where="dropping")
def draws_from_the_clock(seen: Pass) -> Array:
    """Ignores the caller's generator, so a call cannot be repeated with the same mask."""
    return np.random.default_rng([7, next(_calls)]).random(seen.a.shape) >= seen.rate


@wrong("draw", incident="BUG-23")
def starts_the_seed_again(seen: Pass) -> Array:
    """Draws from a copy of the caller's generator, so the next call draws the same numbers."""
    return copy.deepcopy(seen.chance).random(seen.a.shape) >= seen.rate


@wrong("draw", incident="BUG-23")
def draws_one_mask_for_ever(seen: Pass) -> Array:
    """Keeps the mask of the first call, and reuses it for every call of that shape and rate."""
    return np.asarray(seen.memory.setdefault((seen.a.shape, seen.rate), draw(seen)))


# Masks that depend on the weights


def _ranks(a: Array) -> Array:
    """The rank of each weight in its row, from the smallest one."""
    return np.argsort(np.argsort(a, axis=-1, kind="stable"), axis=-1, kind="stable")


@wrong("draw", incident="BUG-23", where="dropping")
def drops_small_weights(seen: Pass) -> Array:
    """Drops the smallest weights of each row, a share p of them, instead of random ones."""
    return _ranks(seen.a) >= seen.rate * seen.a.shape[-1]


@wrong("draw", incident="BUG-23", where="dropping")
def drops_large_weights(seen: Pass) -> Array:
    """Drops the larger half of the weights of a row twice as often as the smaller half."""
    large = _ranks(seen.a) >= seen.a.shape[-1] / 2
    odds = np.where(large, 4 / 3, 2 / 3) * seen.rate
    return seen.chance.random(seen.a.shape) >= odds
