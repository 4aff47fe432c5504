"""Known bugs of the size of an attention sink: scaled, soft-capped, clipped, or added per tile.

The last ones return a wrong log-sum-exp, which must include the sink exactly once.
"""

from typing import Any

import numpy as np

from spec.attention.mistakes.exponentials import beside, divided, forbid, log_sum, top
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.sinks import TILE, sunk
from spec.attention.mistakes.steps import Pass, sink
from spec.notation import Array


@wrong(
    "sink",
    incident="BUG-41",
    citation="ROCm/rocm-libraries#12227",
    where="an attention sink and M > 16",
)
def counts_the_sink_in_every_tile(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Adds the sink to the sum of every tile of 16 keys, so it counts once for each tile."""
    if given.sinks is None:
        return a
    tiles = max(-(-s.shape[-1] // TILE), 1)
    return sunk(a, s, allowed, beside(given.sinks) + np.log(tiles))


@wrong("sink", incident="BUG-41", citation="ROCm/rocm-libraries#12227", where="an attention sink")
def scales_the_sink(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Multiplies the sink by the scale, like the products of queries and keys."""
    if given.sinks is None:
        return a
    sigma = given.query.shape[-1] ** -0.5 if given.scale is None else given.scale
    t = np.where(np.isneginf(given.sinks), -np.inf, given.sinks * sigma)
    return sunk(a, s, allowed, beside(t))


@wrong(
    "sink",
    incident="BUG-41",
    citation="ROCm/rocm-libraries#12227",
    where="an attention sink and a soft-cap",
)
def caps_the_sink(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Applies the soft-cap to the sink too, and not only to the scores of the keys."""
    if given.sinks is None or given.softcap is None:
        return sink(a, s, allowed, given)
    return sunk(a, s, allowed, given.softcap * np.tanh(beside(given.sinks) / given.softcap))


@wrong("sink", incident="plausible", where="an attention sink")
def adds_one_for_every_sink(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Adds exp(0) = 1 to the softmax denominator instead of exp(t), whatever the sink t is."""
    return a if given.sinks is None else sunk(a, s, allowed, 0 * beside(np.zeros(a.shape[1])))


@wrong("sink", incident="plausible", where="an attention sink")
def clips_sinks_at_zero(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Clips sinks at 0 from below, so negative sinks take too much of the weights."""
    return a if given.sinks is None else sunk(a, s, allowed, np.maximum(beside(given.sinks), 0))


@wrong("sink", incident="plausible", where="attention sinks above 8 and several scores")
def clips_sinks_at_ten(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Clips sinks at 10 from above, so that no exponential overflows."""
    return a if given.sinks is None else sunk(a, s, allowed, np.minimum(beside(given.sinks), 10))


@wrong("sink", incident="plausible", where="an attention sink above all scores")
def forgets_sinks_where_they_are_largest(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Clips a sink at the largest score of the query: the subtracted maximum excludes the sink."""
    if given.sinks is None:
        return a
    return sunk(a, s, allowed, np.minimum(beside(given.sinks), top(forbid(s, allowed))))


@wrong("sink", incident="plausible", where="an attention sink")
def adds_the_sink_itself(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Adds |t|, the absolute value of the sink, to the softmax denominator instead of exp(t)."""
    if given.sinks is None:
        return a
    hidden, t = forbid(s, allowed), np.where(np.isneginf(given.sinks), 0, given.sinks)
    L = np.exp(hidden - top(hidden)).sum(axis=-1, keepdims=True)
    return a * divided(L, L + np.abs(beside(t)))


@wrong("sink", incident="plausible", where="an attention sink")
def takes_the_exponential_of_a_sink_alone(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Subtracts the maximum from the scores, but not from the sink, before exponentiating."""
    if given.sinks is None:
        return a
    return sunk(a, s, allowed, beside(given.sinks) + top(forbid(s, allowed)))


@wrong("sink", incident="plausible", where="an attention sink")
def takes_the_sink_in_bits(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Adds 2^t instead of exp(t) for a sink t: scores are in base-two units, but sinks are not."""
    return a if given.sinks is None else sunk(a, s, allowed, np.log(2) * beside(given.sinks))


@wrong("sink", incident="plausible", where="an attention sink")
def squares_the_share_of_the_sink(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Applies the sink twice: once in the weights, and again when it divides the output."""
    return sink(sink(a, s, allowed, given), s, allowed, given)


@wrong("sink", incident="plausible", where="an attention sink and finite biases")
def adds_the_sink_before_the_bias(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Adds the bias of the last key to the sink too: it extends the mask by its last column."""
    if given.sinks is None or given.attn_mask is None or given.attn_mask.dtype == bool:
        return sink(a, s, allowed, given)
    last = given.attn_mask[..., -1:] if given.attn_mask.shape[-1] else 0.0
    bias = np.where(np.isneginf(last), 0, last).astype(np.float64)
    return sunk(a, s, allowed, beside(given.sinks) + bias)


@wrong(
    "measure",
    incident="BUG-41",
    convention=("lse-sink", "without"),
    where="the log-sum-exp asked for and an attention sink",
)
def measures_lse_without_the_sink(seen: Pass) -> Array:
    """Returns the log-sum-exp of the keys alone, without the sink."""
    return log_sum(forbid(seen.s, seen.allowed))


@wrong("measure", incident="plausible", where="the log-sum-exp asked for and an attention sink")
def adds_the_sink_to_lse(seen: Pass) -> Array:
    """Adds the sink t to the log-sum-exp, instead of adding exp(t) inside the logarithm."""
    keys = log_sum(forbid(seen.s, seen.allowed))
    return keys if seen.sinks is None else keys + np.maximum(seen.sinks[..., 0], -1e4)


@wrong(
    "measure",
    incident="BUG-41",
    where="the log-sum-exp asked for and a query that sees only an attention sink",
)
def measures_minus_infinity_without_keys(seen: Pass) -> Array:
    """Returns -inf as the log-sum-exp of a fully masked query with a sink t, instead of t."""
    keys = log_sum(forbid(seen.s, seen.allowed))
    if seen.sinks is None:
        return keys
    return np.where(np.isneginf(keys), keys, np.logaddexp(keys, seen.sinks[..., 0]))
