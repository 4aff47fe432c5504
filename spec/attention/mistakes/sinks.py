"""Known bugs of attention sinks: ignored in some calls, read at a wrong index, or misinterpreted.

Without a sink, the weights of each query sum to one. They look right, but belong to another model.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from spec.attention.mistakes.exponentials import beside, forbid, left, log_sum, softmax
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import sink
from spec.notation import Array

TILE = 16


def sunk(a: Array, s: Array, allowed: Array, t: Array) -> Array:
    """The weights times the share that another sink t leaves; t broadcasts to (B, H, 1, 1)."""
    return a * left(forbid(s, allowed), t)


def forgotten(where: Callable[[Any], bool]) -> Callable[[Array, Array, Array, Any], Array]:
    """The step without sinks in calls for which `where` is true, and with them in others."""
    return lambda a, s, allowed, given: a if where(given) else sink(a, s, allowed, given)


@wrong("sink", incident="BUG-41", citation="vllm-project/vllm-metal#550", where="an attention sink")
def ignores_the_sinks(a: Array, _: Array, __: Array, ___: Any) -> Array:
    """Accepts the sinks, but does not use them: a built-in switch turns them off."""
    return a


@wrong("sink", incident="BUG-41", where="an attention sink and a mask")
def forgets_sinks_beside_a_mask(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Does not apply sinks if a mask is given, for which it has a separate kernel."""
    return forgotten(lambda x: x.attn_mask is not None)(a, s, allowed, given)


@wrong("sink", incident="BUG-41", where="an attention sink and causal")
def forgets_sinks_beside_causality(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Does not apply sinks in causal calls, which take a separate code path."""
    return forgotten(lambda x: x.is_causal)(a, s, allowed, given)


@wrong("sink", incident="BUG-41", where="an attention sink and a window")
def forgets_sinks_beside_a_window(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Does not apply sinks in calls with a window, which take a separate code path."""
    return forgotten(lambda x: x.window_size != (None, None))(a, s, allowed, given)


@wrong("sink", incident="BUG-41", where="an attention sink and a soft-cap")
def forgets_sinks_beside_a_cap(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Does not apply sinks in calls with a soft-cap, for which it has a separate kernel."""
    return forgotten(lambda x: x.softcap is not None)(a, s, allowed, given)


@wrong(
    "sink", incident="BUG-41", citation="ml-explore/mlx#3452", where="an attention sink and N = 1"
)
def has_no_sinks_for_a_single_query(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Does not apply sinks if there is a single query: the decoding kernel is older than sinks."""
    return forgotten(lambda x: x.query.shape[2] == 1)(a, s, allowed, given)


@wrong("sink", incident="BUG-41", where="an attention sink and N > 1")
def has_sinks_for_a_single_query_alone(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Applies sinks only if there is a single query, as in decoding."""
    return forgotten(lambda x: x.query.shape[2] > 1)(a, s, allowed, given)


@wrong("sink", incident="BUG-41", where="an attention sink and M > 16")
def forgets_sinks_beyond_a_tile(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Applies sinks only if all keys fit into one tile of 16, not where it merges tiles."""
    return forgotten(lambda x: x.key.shape[2] > TILE)(a, s, allowed, given)


@wrong("sink", incident="plausible", where="an attention sink and a fully masked query")
def has_no_word_for_no_sink(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Multiplies by sigmoid(lse - t), which is NaN if a query is fully masked and t = -inf."""
    if given.sinks is None:
        return a
    lse = log_sum(forbid(s, allowed))[..., None]
    return a / (1 + np.exp(beside(given.sinks) - lse))


@wrong("sink", incident="plausible", where="an attention sink")
def adds_the_sink_to_the_first_key(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Adds the sink to the score of the first key as a bias, and not to the denominator."""
    if given.sinks is None:
        return a
    finite = np.where(np.isneginf(given.sinks), 0, given.sinks)
    return softmax(forbid(s + beside(finite) * (np.arange(s.shape[-1]) == 0), allowed))


@wrong("sink", incident="plausible", where="an attention sink")
def takes_the_first_value_for_that_of_the_sink(
    a: Array, s: Array, allowed: Array, given: Any
) -> Array:
    """Adds the share of the sink to the weight of the first key, though a sink has no value."""
    rest = sink(a, s, allowed, given)
    if given.sinks is None or not a.shape[-1]:
        return rest
    lost = (a - rest).sum(axis=-1, keepdims=True)
    return rest + lost * (np.arange(a.shape[-1]) == 0)


@wrong("sink", incident="plausible", where="an attention sink and H > 1")
def shares_the_first_sink_among_heads(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Uses the sink of the first head for every head."""
    return a if given.sinks is None else sunk(a, s, allowed, beside(given.sinks)[:1])


@wrong("sink", incident="plausible", where="an attention sink and H > 1")
def reads_sinks_in_reverse(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Reads the sinks in reverse order, so the first head uses the sink of the last."""
    return a if given.sinks is None else sunk(a, s, allowed, beside(given.sinks)[::-1])


@wrong("sink", incident="plausible", where="an attention sink and H > 1")
def reads_sinks_of_the_batch(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Reads the sink at the index of the batch element, modulo H, not of the head."""
    if given.sinks is None or not a.shape[1]:
        return a
    t = given.sinks.astype(np.float64)[np.arange(len(a)) % a.shape[1]]
    return sunk(a, s, allowed, t[:, None, None, None])


@wrong("sink", incident="plausible", where="an attention sink and grouped heads")
def reads_sinks_as_if_heads_were_groups(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Reads the sink of head h at h // (H / G), the index of its key head, not at h."""
    if given.sinks is None or not a.shape[1]:
        return a
    R = a.shape[1] // max(given.key.shape[1], 1)
    return sunk(a, s, allowed, beside(given.sinks)[np.arange(a.shape[1]) // R])


@wrong("sink", incident="BUG-41", where="a query that sees only an attention sink")
def gives_the_mean_where_only_a_sink_is_seen(
    a: Array, s: Array, allowed: Array, given: Any
) -> Array:
    """Returns the mean of all values, not zero, for a fully masked query with a sink."""
    rest = sink(a, s, allowed, given)
    if given.sinks is None:
        return rest
    alone = ~allowed.any(axis=-1, keepdims=True) & ~np.isneginf(beside(given.sinks))
    return np.where(alone, 1 / max(a.shape[-1], 1), rest)


@wrong("sink", incident="BUG-41", where="a query that sees only an attention sink")
def gives_nan_where_only_a_sink_is_seen(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Returns NaN, not zero, for a fully masked query with a sink: its largest score is -inf."""
    rest = sink(a, s, allowed, given)
    if given.sinks is None:
        return rest
    alone = ~allowed.any(axis=-1, keepdims=True) & ~np.isneginf(beside(given.sinks))
    return np.where(alone, np.nan, rest)
