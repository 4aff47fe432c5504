"""Programs that are right within rounding, and whose order of summation depends on something else.

Their outputs are correct, so they are certified. Each breaks a promise of bits (`spec.promises`),
and is refused if that promise is declared.
"""

import numpy as np

from spec.attention.mistakes import steps
from spec.attention.mistakes.exponentials import forbid, log_sum, with_sink
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import Pass
from spec.notation import Array

PART = 5  # keys, or one more: no power of two, so that another split shows in few keys
_chance = np.random.default_rng(0)


def in_parts(a: Array, v: Array, allowed: Array, size: int) -> Array:
    """The weighted sum of the values, computed in parts of so many keys, one after the other."""
    starts = range(0, max(1, v.shape[2]), size)
    cuts = [slice(i, i + size) for i in starts]
    found = steps.combine(a[..., cuts[0]], v[:, :, cuts[0]], allowed[..., cuts[0]])
    for x in cuts[1:]:
        found = found + steps.combine(a[..., x], v[:, :, x], allowed[..., x])
    return found


def _shuffled(keys: int) -> Array:
    """Another order of the keys in every call."""
    return np.roll(_chance.permutation(keys), 1)


@wrong(
    "combine", incident="BUG-40", harmless=True, force="promise", citation="vllm-project/vllm#27433"
)
def adds_in_another_order_every_call(a: Array, v: Array, allowed: Array) -> Array:
    """Adds the weighted values in another order in every call, as atomic additions do."""
    order = _shuffled(v.shape[2])
    return in_parts(a[..., order], v[:, :, order], allowed[..., order], PART)


@wrong("measure", incident="BUG-40", harmless=True, force="promise")
def measures_in_another_order_every_call(seen: Pass) -> Array:
    """Adds the exponentials of the log-sum-exp in another order in every call."""
    hidden = forbid(seen.s, seen.allowed)[..., _shuffled(seen.s.shape[-1])]
    return with_sink(log_sum(hidden), seen)


@wrong(
    "query_gradients",
    incident="BUG-40",
    harmless=True,
    force="promise",
    citation="Dao-AILab/flash-attention#1897",
)
def adds_gradients_in_another_order_every_call(seen: Pass, ds: Array) -> Array:
    """Adds the gradients of queries over the keys in another order in every call."""
    order = _shuffled(ds.shape[-1])
    return seen.sigma * in_parts(ds[..., order], seen.k[:, :, order], seen.allowed, PART)


@wrong(
    "combine", incident="BUG-40", harmless=True, force="promise", citation="vllm-project/vllm#27433"
)
def splits_keys_by_batch_size(a: Array, v: Array, allowed: Array) -> Array:
    """Splits the keys into smaller parts if the batch is small, to occupy the whole device."""
    return in_parts(a, v, allowed, PART + min(2, len(a)))


@wrong("query_gradients", incident="BUG-40", harmless=True, force="promise")
def splits_gradients_by_batch_size(seen: Pass, ds: Array) -> Array:
    """Adds the gradients of queries over smaller parts of the keys if the batch is small."""
    return seen.sigma * in_parts(ds, seen.k, seen.allowed, PART + min(2, len(ds)))


@wrong("combine", incident="BUG-40", harmless=True, force="promise")
def splits_keys_of_the_first_head(a: Array, v: Array, allowed: Array) -> Array:
    """Splits the keys of the first head alone, as the remainder of heads that are split evenly."""
    o = in_parts(a, v, allowed, PART)
    return np.concatenate([in_parts(a[:, :1], v[:, :1], allowed[:, :1], PART - 2), o[:, 1:]], 1)


@wrong("combine", incident="BUG-40", harmless=True, force="promise")
def chooses_tiles_by_length(a: Array, v: Array, allowed: Array) -> Array:
    """Chooses the size of its tiles by the number of keys, masked ones included."""
    return in_parts(a, v, allowed, PART + v.shape[2] % 4)


@wrong("combine", incident="BUG-40", harmless=True, force="promise")
def has_another_program_for_a_single_query(a: Array, v: Array, allowed: Array) -> Array:
    """Has another program for a single query, which splits the keys into other parts."""
    return in_parts(a, v, allowed, PART + (a.shape[2] == 1))
