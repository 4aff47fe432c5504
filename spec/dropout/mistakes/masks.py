"""Masks: who shares one, which source it comes from, and what decides beside chance."""

import copy
from itertools import count

import numpy as np

from spec.dropout.mistakes.making import wrong
from spec.dropout.mistakes.steps import Pass, draw
from spec.notation import Array

_calls = count()

# Shared masks


def _shared(seen: Pass, *axes: int) -> Array:
    """One mask for all places along some axes."""
    shape = [1 if axis - 4 in axes else size for axis, size in enumerate(seen.a.shape)]
    return np.broadcast_to(seen.chance.random(shape) >= seen.rate, seen.a.shape)


@wrong("draw", incident="I23", where="dropping and B > 1")
def shares_the_mask_over_the_batch(seen: Pass) -> Array:
    """Draws one mask for all batch elements, which broadcasts."""
    return _shared(seen, -4)


@wrong("draw", incident="I23", where="dropping and H > 1")
def shares_the_mask_over_heads(seen: Pass) -> Array:
    """Draws one mask for all heads, which broadcasts."""
    return _shared(seen, -3)


@wrong("draw", incident="I23", where="dropping and N > 1")
def drops_whole_keys(seen: Pass) -> Array:
    """Drops values, whole rows of them, for all queries alike."""
    return _shared(seen, -2)


@wrong("draw", incident="I23", where="dropping and M > 1")
def drops_whole_queries(seen: Pass) -> Array:
    """Drops rows of the weights, whole queries at once."""
    return _shared(seen, -1)


@wrong("draw", incident="I23", where="dropping and M > 1")
def drops_keys_in_blocks(seen: Pass) -> Array:
    """Uses each random number for two keys."""
    return draw(seen)[..., np.arange(seen.a.shape[-1]) // 2 * 2]


@wrong("draw", incident="I23", where="dropping and N > 4")
def repeats_the_mask_every_four_queries(seen: Pass) -> Array:
    """Draws the mask of a tile of four queries, and takes it for every tile."""
    return draw(seen)[..., np.arange(seen.a.shape[-2]) % 4, :]


@wrong("draw", incident="I23", where="dropping and H > 1")
def starts_each_head_at_the_seed(seen: Pass) -> Array:
    """Gives each head a generator of its own, all of the same state."""
    heads = [copy.deepcopy(seen.chance) for _ in range(seen.a.shape[1])]
    shape = (seen.a.shape[0], *seen.a.shape[2:])
    kept = np.stack([chance.random(shape) >= seen.rate for chance in heads], axis=1)
    seen.chance.random(1)
    return np.asarray(kept)


# Sources


@wrong("draw", incident="I23", where="dropping")
def ignores_the_seed(seen: Pass) -> Array:
    """Seeds a generator of its own, always the same."""
    return np.random.default_rng(0).random(seen.a.shape) >= seen.rate


@wrong("draw", incident="I23", where="dropping")
def draws_from_the_clock(seen: Pass) -> Array:
    """Seeds a generator of its own with what nobody can repeat."""
    return np.random.default_rng([7, next(_calls)]).random(seen.a.shape) >= seen.rate


@wrong("draw", incident="I23")
def starts_the_seed_again(seen: Pass) -> Array:
    """Copies the generator, so that every call starts where the first did."""
    return copy.deepcopy(seen.chance).random(seen.a.shape) >= seen.rate


@wrong("draw", incident="I23")
def draws_one_mask_for_ever(seen: Pass) -> Array:
    """Keeps the mask of the first call, and uses it as long as shapes and mode agree."""
    return np.asarray(seen.memory.setdefault((seen.a.shape, seen.rate), draw(seen)))


# What decides beside chance


def _ranks(a: Array) -> Array:
    """The place of each weight in its row, from the smallest on."""
    return np.argsort(np.argsort(a, axis=-1, kind="stable"), axis=-1, kind="stable")


@wrong("draw", incident="I23", where="dropping")
def drops_small_weights(seen: Pass) -> Array:
    """Prunes: drops the share p of a row that matters least."""
    return _ranks(seen.a) >= seen.rate * seen.a.shape[-1]


@wrong("draw", incident="I23", where="dropping")
def drops_large_weights(seen: Pass) -> Array:
    """Drops large weights twice as often as small ones, to spread attention."""
    large = _ranks(seen.a) >= seen.a.shape[-1] / 2
    odds = np.where(large, 4 / 3, 2 / 3) * seen.rate
    return seen.chance.random(seen.a.shape) >= odds
