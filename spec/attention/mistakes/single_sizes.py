"""Known bugs at a single size, or beyond 1024: the result is right at all other sizes.

A bug at one size need not lie at the edge of a tile: one row of a configuration table can be wrong.
Bugs beyond 1024 show only if a test has that many queries or keys.
"""

from typing import Any

import numpy as np

from spec.attention.mistakes import backward_steps, steps
from spec.attention.mistakes.exponentials import forbid, log_sum, with_sink
from spec.attention.mistakes.gradients import SEVERAL
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.softmax import normalised, powers
from spec.attention.mistakes.steps import Pass, weigh
from spec.notation import Array


@wrong("weigh", incident="BUG-13", where="M = 37")
def loses_a_key_at_one_length(s: Array, allowed: Array) -> Array:
    """Leaves out the last key if M = 37: its configuration table says 36 for that length."""
    keys = np.arange(s.shape[-1])
    return weigh(s, allowed & ((keys < 36) | (s.shape[-1] != 37)))


@wrong("share", incident="BUG-19", where="H = 5")
def mixes_up_heads_if_there_are_five(x: Array, heads: int) -> Array:
    """Uses the keys and values of the fourth head for the fifth, if there are five heads."""
    shared = steps.share(x, heads)
    return shared[:, [0, 1, 2, 3, 3]] if heads == 5 else shared


@wrong("measure", incident="BUG-13", where="the log-sum-exp asked for and M = 41")
def measures_all_keys_but_one_at_one_length(seen: Pass) -> Array:
    """Leaves the last key out of the log-sum-exp if M = 41; the output has it."""
    short = (np.arange(seen.sizes.M) < 40) | (seen.sizes.M != 41)
    return with_sink(log_sum(forbid(seen.s, seen.allowed & short)), seen)


@wrong(
    "query_gradients",
    incident="BUG-36",
    citation="Dao-AILab/flash-attention#2896",
    where=f"gradients asked for and D = 56 and {SEVERAL}",
)
def leaves_stale_columns_at_one_width(seen: Pass, ds: Array) -> Array:
    """Leaves the last 8 columns of dq zero if D = 56: the loop in steps of 16 stops at 48."""
    dq = backward_steps.query_gradients(seen, ds)
    return np.where((np.arange(dq.shape[-1]) < 48) | (dq.shape[-1] != 56), dq, 0)


@wrong("value_gradients", incident="BUG-13", where="gradients asked for and N = 91")
def loses_a_query_at_one_length(seen: Pass, dout: Array) -> Array:
    """Leaves the last query out of dv if N = 91: the split among workers loses it."""
    counted = np.arange(seen.sizes.N)[:, None] < (90 if seen.sizes.N == 91 else seen.sizes.N)
    return seen.a.swapaxes(-1, -2) @ np.where(counted, dout, 0)


@wrong("weigh", incident="BUG-13", where="M > 1024 and M % 1024 != 0")
def counts_keys_twice_beyond_1024(s: Array, allowed: Array) -> Array:
    """Reads blocks of 1024 keys and moves the last block back to fit, so some keys count twice."""
    M = s.shape[-1]
    again = (np.arange(M) >= M - 1024) & (np.arange(M) < M // 1024 * 1024) & (M > 1024)
    return normalised(powers(s, allowed) * np.where(again & (M % 1024 > 0), 2, 1))


@wrong("finish", incident="BUG-13", where="N > 1024 and N % 1024 != 0")
def returns_other_queries_beyond_1024(o: Array, dtype: np.dtype[Any]) -> Array:
    """Moves the last block of 1024 queries back to fit, but writes its rows at the old offset."""
    N = o.shape[-2]
    rows = np.arange(N)
    whole = N // 1024 * 1024 if N > 1024 else N
    return o[..., np.where(rows < whole, rows, rows - whole + N - 1024), :].astype(dtype)


@wrong("key_gradients", incident="BUG-13", where="gradients asked for and M > 1024")
def learns_nothing_beyond_1024_keys(seen: Pass, ds: Array) -> Array:
    """Computes dk only for the first 1024 keys, in one thread block; for all other keys it is 0."""
    dk = backward_steps.key_gradients(seen, ds)
    return np.where(np.arange(dk.shape[-2])[:, None] < 1024, dk, 0)
