"""Building blocks of correct and wrong steps: exponentials, their sums, and masked scores.

seen: the results of a forward pass (`spec.attention.mistakes.steps.Pass`).
"""

from typing import Any

import numpy as np

from spec.notation import Array


def beside(sinks: Array) -> Array:
    """The sinks as float64, in a shape that broadcasts with scores.   (H,) to (H, 1, 1)"""
    return sinks.astype(np.float64)[:, None, None]


def per_head(slopes: Array) -> Array:
    """ALiBi slopes that broadcast with distances.   (H,) or (B, H) to (1 or B, H, 1, 1)"""
    return slopes.astype(np.float64).reshape(-1, slopes.shape[-1], 1, 1)


def left(s: Array, t: Array) -> Array:
    """L / (L + exp(t)) for L = sum_j exp(s_j), and 1 for a row in which both are zero."""
    L, e = parts(s, t)
    return np.where(L + e == 0, 1, divided(L, L + e))


def taken(s: Array, t: Array) -> Array:
    """exp(t) / (L + exp(t)), which is more accurate than 1 - `left` where it is small."""
    L, e = parts(s, t)
    return divided(e, L + e)


def parts(s: Array, t: Array) -> tuple[Array, Array]:
    """sum_j exp(s_j) and exp(t), both divided by the largest of all these exponentials."""
    m = top(np.maximum(s.max(axis=-1, keepdims=True, initial=-np.inf), t))
    return np.exp(s - m).sum(axis=-1, keepdims=True), np.exp(t - m)


def forbid(s: Array, allowed: Array, fill: float = -np.inf) -> Array:
    """The scores, with `fill` where a key is masked."""
    return np.where(allowed, s, s.dtype.type(fill))


def top(s: Array) -> Array:
    """The largest score of each row, or 0 if the row has none or all are -inf."""
    largest = s.max(axis=-1, keepdims=True, initial=-np.inf)
    return np.where(np.isneginf(largest), 0, largest)


def divided(e: Array, total: Array) -> Array:
    """e / total, and zero for a row whose total is zero."""
    return e / np.where(total == 0, 1, total)


def softmax(s: Array) -> Array:
    """exp(s_j) / sum_j exp(s_j) along the last axis, and zero where all scores are -inf."""
    e = np.exp(s - top(s))
    return divided(e, e.sum(axis=-1, keepdims=True))


def log_sum(s: Array) -> Array:
    """log sum_j exp(s_j) along the last axis."""
    return (top(s) + np.log(np.exp(s - top(s)).sum(axis=-1, keepdims=True)))[..., 0]


def with_sink(keys: Array, seen: Any) -> Array:
    """The log-sum-exp of the keys, together with the sink if there is one."""
    return keys if seen.sinks is None else np.logaddexp(keys, seen.sinks[..., 0])


def softmax_with_sink(s: Array, seen: Any) -> Array:
    """The softmax of other scores, times the share that the sink leaves to the keys."""
    return softmax(s) if seen.sinks is None else softmax(s) * left(s, seen.sinks)
