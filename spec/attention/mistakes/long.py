"""Known bugs that need thousands of keys or queries: counters and buffers that end too early.

Each is right up to some length, and wrong for all that are longer, or for nearly all. A single
test of a greater length shows it, if the result depends on each key.
"""

from typing import Any

import numpy as np

from spec.attention.mistakes import backward_steps, steps
from spec.attention.mistakes.exponentials import divided, forbid, top, with_sink
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.softmax import normalised, powers
from spec.attention.mistakes.steps import Pass, weigh
from spec.notation import Array

WRAPS = 2**16  # where a counter of 16 bits starts again at 0
LARGEST = 65504  # the largest number of float16
KEYS, QUERIES = (f"gradients asked for and {x} > 65536" for x in "MN")


def _row(s: Array) -> Array:
    """The numbers of the keys.   (M,)"""
    return np.arange(s.shape[-1])


def _rows(x: Array) -> Array:
    """The numbers of the rows of an array.   (N, 1)"""
    return np.arange(x.shape[-2])[:, None]


@wrong("weigh", incident="BUG-13", where="M > 50000")
def ignores_keys_beyond_50000(s: Array, allowed: Array) -> Array:
    """Reads the first 50 000 keys: its workspace has room for no more."""
    return weigh(s, allowed & (_row(s) < 50_000))


@wrong("weigh", incident="BUG-13", where="M > 65536")
def counts_keys_twice_beyond_65536(s: Array, allowed: Array) -> Array:
    """Starts a second launch at key 65 536, and adds its results twice."""
    return normalised(powers(s, allowed) * np.where(_row(s) < WRAPS, 1, 2))


@wrong("weigh", incident="BUG-13", where="M > 16384 and M % 16384 != 0")
def drops_the_rest_of_16384_keys(s: Array, allowed: Array) -> Array:
    """Splits more than 16 384 keys into parts of that size, and drops the rest."""
    M = s.shape[-1]
    return weigh(s, allowed & (_row(s) < (M // 16_384 * 16_384 if M > 16_384 else M)))


@wrong("share", incident="BUG-27", where="M > 65536")
def reads_the_first_keys_again_beyond_65536(x: Array, heads: int) -> Array:
    """Numbers keys with 16 bits, so key 65 536 is the first one again."""
    return steps.share(x, heads)[:, :, np.arange(x.shape[2]) % WRAPS]


@wrong("share", incident="BUG-27", where="M > 32768")
def reads_one_key_for_all_beyond_32767(x: Array, heads: int) -> Array:
    """Converts the numbers of keys to 16 bits with a sign, and clips those that do not fit."""
    return steps.share(x, heads)[:, :, np.minimum(np.arange(x.shape[2]), 32_767)]


@wrong("share", incident="plausible", where="M > 2049")
def numbers_keys_in_float16(x: Array, heads: int) -> Array:
    """Makes the numbers of keys in float16, which has no odd integers beyond 2048."""
    last = max(x.shape[2] - 1, 0)
    with np.errstate(over="ignore"):
        row = np.arange(x.shape[2], dtype=np.float64).astype(np.float16).astype(np.float64)
    return steps.share(x, heads)[:, :, np.minimum(row, last).astype(np.int64)]


@wrong("weigh", incident="plausible", where="M > 65504")
def adds_weights_up_to_65504(s: Array, allowed: Array) -> Array:
    """Clips the sum of the exponentials to the largest number of float16."""
    e = powers(s, allowed)
    return divided(e, np.minimum(e.sum(axis=-1, keepdims=True), e.dtype.type(LARGEST)))


@wrong("weigh", incident="plausible", where="M > 65504")
def adds_weights_within_65504(s: Array, allowed: Array) -> Array:
    """Sums the exponentials in the range of float16: infinite beyond 65504, so the output is 0."""
    e = powers(s, allowed)
    total = e.sum(axis=-1, keepdims=True)
    return divided(e, np.where(total > LARGEST, e.dtype.type(np.inf), total))


@wrong("weigh", incident="plausible", where="M > 2049")
def adds_ones_up_to_2048(s: Array, allowed: Array) -> Array:
    """Keeps a sum beyond 2048 as it is: adding one to it changes nothing in float16."""
    e = powers(s, allowed)
    return divided(e, np.minimum(e.sum(axis=-1, keepdims=True), e.dtype.type(2048)))


@wrong("key_gradients", incident="BUG-13", where=KEYS)
def learns_nothing_beyond_65536_keys(seen: Pass, ds: Array) -> Array:
    """Computes dk for the first 65 536 keys; for all others it is 0."""
    dk = backward_steps.key_gradients(seen, ds)
    return np.where(_rows(dk) < WRAPS, dk, 0)


@wrong("value_gradients", incident="BUG-27", where=KEYS)
def adds_value_gradients_to_the_first_keys(seen: Pass, dout: Array) -> Array:
    """Numbers keys with 16 bits in dv: the gradient of value 65 536 is added to the first one."""
    dv = backward_steps.value_gradients(seen, dout)
    first = np.where(_rows(dv) < WRAPS, dv, 0)
    rest = dv[..., WRAPS : 2 * WRAPS, :]
    first[..., : rest.shape[-2], :] += rest
    return first


@wrong("query_gradients", incident="BUG-13", where=KEYS)
def leaves_keys_beyond_65536_out_of_dq(seen: Pass, ds: Array) -> Array:
    """Adds up dq over the first 65 536 keys."""
    return backward_steps.query_gradients(seen, np.where(_row(ds) < WRAPS, ds, 0))


@wrong("row_term", incident="BUG-21", where=KEYS)
def leaves_keys_beyond_65536_out_of_the_row_term(seen: Pass, da: Array, _: Array) -> Array:
    """Adds up the mean that the softmax gradient subtracts over the first 65 536 keys."""
    return np.where(_row(da) < WRAPS, seen.a * da, 0).sum(axis=-1, keepdims=True)


@wrong("measure", incident="BUG-13", where="the log-sum-exp asked for and M > 65536")
def measures_65536_keys(seen: Pass) -> Array:
    """Has the first 65 536 keys in the log-sum-exp; the output has all."""
    return _measured(seen, np.where(_row(seen.s) < WRAPS, 1.0, 0.0))


@wrong("measure", incident="BUG-13", where="the log-sum-exp asked for and M > 65536")
def measures_keys_twice_beyond_65536(seen: Pass) -> Array:
    """Counts keys from the 65 536th on twice in the log-sum-exp; the output has each once."""
    return _measured(seen, np.where(_row(seen.s) < WRAPS, 1.0, 2.0))


@wrong("measure", incident="plausible", where="the log-sum-exp asked for and M > 65504")
def measures_sums_up_to_65504(seen: Pass) -> Array:
    """Takes the logarithm of a sum that was clipped to the largest number of float16."""
    return _measured(seen, np.ones(seen.s.shape[-1]), LARGEST)


def _measured(seen: Pass, counts: Array, most: float = np.inf) -> Array:
    """The log-sum-exp in which keys count so many times, and the sum is no larger than `most`."""
    s = forbid(seen.s, seen.allowed)
    total = (np.exp(s - top(s)) * counts).sum(axis=-1, keepdims=True)
    return with_sink((top(s) + np.log(np.minimum(total, most)))[..., 0], seen)


@wrong("finish", incident="BUG-27", where="N > 65536")
def returns_the_first_queries_again_beyond_65536(o: Array, dtype: np.dtype[Any]) -> Array:
    """Numbers queries with 16 bits, and so returns the first row again for query 65 536."""
    return o[..., np.arange(o.shape[-2]) % WRAPS, :].astype(dtype)


@wrong("finish", incident="BUG-13", where="N > 50000")
def returns_zero_beyond_50000_queries(o: Array, dtype: np.dtype[Any]) -> Array:
    """Computes the first 50 000 rows; all others are still zero."""
    return np.where(_rows(o) < 50_000, o, 0).astype(dtype)


@wrong("finish", incident="BUG-13", where="N > 16384 and N % 16384 != 0")
def drops_the_rest_of_16384_queries(o: Array, dtype: np.dtype[Any]) -> Array:
    """Computes whole chunks of 16 384 queries if there are more, and leaves the rest zero."""
    N = o.shape[-2]
    return np.where(_rows(o) < (N // 16_384 * 16_384 if N > 16_384 else N), o, 0).astype(dtype)


@wrong("query_gradients", incident="BUG-13", where=QUERIES)
def learns_nothing_beyond_65536_queries(seen: Pass, ds: Array) -> Array:
    """Computes dq for the first 65 536 queries; for all others it is 0."""
    dq = backward_steps.query_gradients(seen, ds)
    return np.where(_rows(dq) < WRAPS, dq, 0)


@wrong("key_gradients", incident="BUG-13", where=QUERIES)
def leaves_queries_beyond_65536_out_of_dk(seen: Pass, ds: Array) -> Array:
    """Adds up dk over the first 65 536 queries."""
    return backward_steps.key_gradients(seen, np.where(_rows(ds) < WRAPS, ds, 0))


@wrong("value_gradients", incident="BUG-13", where=QUERIES)
def counts_queries_twice_beyond_65536_in_dv(seen: Pass, dout: Array) -> Array:
    """Starts a second launch at query 65 536, and adds its part of dv twice."""
    return backward_steps.value_gradients(seen, dout * np.where(_rows(dout) < WRAPS, 1, 2))


@wrong("weigh", incident="BUG-40", harmless=True)
def adds_weights_one_by_one(s: Array, allowed: Array) -> Array:
    """Adds up the exponentials one by one, in the order of the keys."""
    e = powers(s, allowed)
    return divided(e, np.add.accumulate(e, axis=-1)[..., -1:] if s.shape[-1] else 0 * e[..., :1])
