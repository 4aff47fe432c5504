"""How large a sink is: scaled, capped, clipped, in other units, once or in each tile.

And what the log-sum-exp knows of it.
"""

from typing import Any

import numpy as np

from spec.attention.mistakes.exponentials import beside, divided, forbid, log_sum, top
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.sinks import TILE, sunk
from spec.attention.mistakes.steps import Pass, sink
from spec.notation import Array


@wrong("sink", incident="I41", citation="ROCm/rocm-libraries#12227", where="a sink and M > 16")
def counts_the_sink_in_every_tile(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Begins the total of each tile of 16 keys with the sink, and adds the totals up."""
    if given.sinks is None:
        return a
    tiles = max(-(-s.shape[-1] // TILE), 1)
    return sunk(a, s, allowed, beside(given.sinks) + np.log(tiles))


@wrong("sink", incident="I41", citation="ROCm/rocm-libraries#12227", where="a sink")
def scales_the_sink(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Puts the sink beside products that are still to be scaled."""
    if given.sinks is None:
        return a
    sigma = given.query.shape[-1] ** -0.5 if given.scale is None else given.scale
    t = np.where(np.isneginf(given.sinks), -np.inf, given.sinks * sigma)
    return sunk(a, s, allowed, beside(t))


@wrong("sink", incident="I41", citation="ROCm/rocm-libraries#12227", where="a sink and a cap")
def caps_the_sink(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Puts the sink beside the products that are about to be capped."""
    if given.sinks is None or given.softcap is None:
        return sink(a, s, allowed, given)
    return sunk(a, s, allowed, given.softcap * np.tanh(beside(given.sinks) / given.softcap))


@wrong("sink", incident="plausible", where="a sink")
def adds_one_for_every_sink(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Takes the sink for a switch: one is added to the denominator, whatever the sink is."""
    return a if given.sinks is None else sunk(a, s, allowed, 0 * beside(np.zeros(a.shape[1])))


@wrong("sink", incident="plausible", where="a sink")
def clips_sinks_at_zero(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Lets no sink be below zero."""
    return a if given.sinks is None else sunk(a, s, allowed, np.maximum(beside(given.sinks), 0))


@wrong("sink", incident="plausible", where="sinks above 8 and several scores")
def clips_sinks_at_ten(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Lets no sink be above ten, that no exponential overflows."""
    return a if given.sinks is None else sunk(a, s, allowed, np.minimum(beside(given.sinks), 10))


@wrong("sink", incident="plausible", where="a sink above all scores")
def forgets_sinks_where_they_are_largest(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Subtracts the largest score of a key, and clips at zero what is left of a larger sink."""
    if given.sinks is None:
        return a
    return sunk(a, s, allowed, np.minimum(beside(given.sinks), top(forbid(s, allowed))))


@wrong("sink", incident="plausible", where="a sink")
def adds_the_sink_itself(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Adds the sink to the denominator, and not its exponential."""
    if given.sinks is None:
        return a
    hidden, t = forbid(s, allowed), np.where(np.isneginf(given.sinks), 0, given.sinks)
    L = np.exp(hidden - top(hidden)).sum(axis=-1, keepdims=True)
    return a * divided(L, L + np.abs(beside(t)))


@wrong("sink", incident="plausible", where="a sink")
def takes_the_exponential_of_a_sink_alone(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Subtracts the maximum from the scores, and not from the sink."""
    if given.sinks is None:
        return a
    return sunk(a, s, allowed, beside(given.sinks) + top(forbid(s, allowed)))


@wrong("sink", incident="plausible", where="a sink")
def takes_the_sink_in_bits(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Has scores in units of log 2, and adds 2^t for a sink in natural ones."""
    return a if given.sinks is None else sunk(a, s, allowed, np.log(2) * beside(given.sinks))


@wrong("sink", incident="plausible", where="a sink")
def squares_the_share_of_the_sink(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Has the sink in the weights, and once more where the output is divided."""
    return sink(sink(a, s, allowed, given), s, allowed, given)


@wrong("sink", incident="plausible", where="a sink and finite biases")
def adds_the_sink_before_the_bias(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Pads the scores with the sink, and the mask with its last column."""
    if given.sinks is None or given.attn_mask is None or given.attn_mask.dtype == bool:
        return sink(a, s, allowed, given)
    last = given.attn_mask[..., -1:] if given.attn_mask.shape[-1] else 0.0
    bias = np.where(np.isneginf(last), 0, last).astype(np.float64)
    return sunk(a, s, allowed, beside(given.sinks) + bias)


@wrong(
    "measure",
    incident="I41",
    convention=("lse sink", "without"),
    where="the log-sum-exp asked for and a sink",
)
def measures_lse_without_the_sink(seen: Pass) -> Array:
    """Returns the log-sum-exp of the keys alone."""
    return log_sum(forbid(seen.s, seen.allowed))


@wrong("measure", incident="plausible", where="the log-sum-exp asked for and a sink")
def adds_the_sink_to_lse(seen: Pass) -> Array:
    """Adds the sink to the log-sum-exp, and not into it."""
    keys = log_sum(forbid(seen.s, seen.allowed))
    return keys if seen.sinks is None else keys + np.maximum(seen.sinks[..., 0], -1e4)


@wrong(
    "measure", incident="I41", where="the log-sum-exp asked for and a query that sees a sink alone"
)
def measures_minus_infinity_without_keys(seen: Pass) -> Array:
    """Leaves early where no key is seen, with the log-sum-exp of nothing."""
    keys = log_sum(forbid(seen.s, seen.allowed))
    if seen.sinks is None:
        return keys
    return np.where(np.isneginf(keys), keys, np.logaddexp(keys, seen.sinks[..., 0]))
