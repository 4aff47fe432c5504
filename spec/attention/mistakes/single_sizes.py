"""Exceptions: what is right at all sizes but one, or at all that were thought of.

The former is at no edge of a tile, as a row of a table is wrong. The latter end at a thousand.
"""

from typing import Any

import numpy as np

from spec.attention.mistakes import backward_steps, steps
from spec.attention.mistakes.gradients import SEVERAL
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.softmax import normalised, powers
from spec.attention.mistakes.steps import Pass, weigh
from spec.notation import Array


@wrong("weigh", incident="I13", where="M = 37")
def loses_a_key_at_one_length(s: Array, allowed: Array) -> Array:
    """Has a table of configurations, and in the row for 37 keys it says 36."""
    keys = np.arange(s.shape[-1])
    return weigh(s, allowed & ((keys < 36) | (s.shape[-1] != 37)))


@wrong("share", incident="I19", where="H = 5")
def mixes_up_heads_if_there_are_five(x: Array, heads: int) -> Array:
    """Hands heads out in pairs, and gives the last of five that of its neighbour."""
    shared = steps.share(x, heads)
    return shared[:, [0, 1, 2, 3, 3]] if heads == 5 else shared


@wrong(
    "query_gradients",
    incident="I36",
    citation="Dao-AILab/flash-attention#2896",
    where=f"gradients asked for and D = 56 and {SEVERAL}",
)
def leaves_stale_columns_at_one_width(seen: Pass, ds: Array) -> Array:
    """Allocates widths in steps of 32 and walks them in steps of 16: at 56 the last ones stay."""
    dq = backward_steps.query_gradients(seen, ds)
    return np.where((np.arange(dq.shape[-1]) < 48) | (dq.shape[-1] != 56), dq, 0)


@wrong("value_gradients", incident="I13", where="gradients asked for and N = 91")
def loses_a_query_at_one_length(seen: Pass, dout: Array) -> Array:
    """Splits 91 queries among workers in a backward pass, and one is left over."""
    counted = np.arange(seen.sizes.N)[:, None] < (90 if seen.sizes.N == 91 else seen.sizes.N)
    return seen.a.swapaxes(-1, -2) @ np.where(counted, dout, 0)


@wrong("weigh", incident="I13", where="M > 1024 and M % 1024 != 0")
def counts_keys_twice_beyond_1024(s: Array, allowed: Array) -> Array:
    """Takes 1024 keys at a time, the last chunk moved back, lest it ends behind the last key."""
    M = s.shape[-1]
    again = (np.arange(M) >= M - 1024) & (np.arange(M) < M // 1024 * 1024) & (M > 1024)
    return normalised(powers(s, allowed) * np.where(again & (M % 1024 > 0), 2, 1))


@wrong("finish", incident="I13", where="N > 1024 and N % 1024 != 0")
def returns_other_queries_beyond_1024(o: Array, dtype: np.dtype[Any]) -> Array:
    """Takes 1024 queries at a time, moves back for the last, and leaves its rows where they are."""
    N = o.shape[-2]
    rows = np.arange(N)
    whole = N // 1024 * 1024 if N > 1024 else N
    return o[..., np.where(rows < whole, rows, rows - whole + N - 1024), :].astype(dtype)


@wrong("key_gradients", incident="I13", where="gradients asked for and M > 1024")
def learns_nothing_beyond_1024_keys(seen: Pass, ds: Array) -> Array:
    """Has one block of threads for the gradients of keys, which are at most 1024."""
    dk = backward_steps.key_gradients(seen, ds)
    return np.where(np.arange(dk.shape[-2])[:, None] < 1024, dk, 0)
