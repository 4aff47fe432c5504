"""A sink beside the scores: where it is forgotten, which one is read, and what it is taken for.

Weights that sum to one look right, and are those of another model.
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
    """What another sink t, broadcastable to (B, H, 1, 1), leaves of the weights."""
    return a * left(forbid(s, allowed), t)


def forgotten(where: Callable[[Any], bool]) -> Callable[[Array, Array, Array, Any], Array]:
    """The step without sinks where they are forgotten, and with them elsewhere."""
    return lambda a, s, allowed, given: a if where(given) else sink(a, s, allowed, given)


@wrong("sink", incident="I41", citation="vllm-project/vllm-metal#550", where="a sink")
def ignores_the_sinks(a: Array, _: Array, __: Array, ___: Any) -> Array:
    """Takes sinks, and a switch that is built in says that there are none."""
    return a


@wrong("sink", incident="I41", where="a sink and a mask")
def forgets_sinks_beside_a_mask(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Has a kernel for masks, to which nobody hands the sinks."""
    return forgotten(lambda x: x.attn_mask is not None)(a, s, allowed, given)


@wrong("sink", incident="I41", where="a sink and causal")
def forgets_sinks_beside_causality(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Has a causal path of its own, which knows no sinks."""
    return forgotten(lambda x: x.is_causal)(a, s, allowed, given)


@wrong("sink", incident="I41", where="a sink and a window")
def forgets_sinks_beside_a_window(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Has a path for windows, and layers with and without one take turns."""
    return forgotten(lambda x: x.window_size != (None, None))(a, s, allowed, given)


@wrong("sink", incident="I41", where="a sink and a cap")
def forgets_sinks_beside_a_cap(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Has scores that are capped in a kernel of their own."""
    return forgotten(lambda x: x.softcap is not None)(a, s, allowed, given)


@wrong("sink", incident="I41", citation="ml-explore/mlx#3452", where="a sink and N = 1")
def has_no_sinks_for_a_single_query(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Decodes with a kernel for one query, which was written before there were sinks."""
    return forgotten(lambda x: x.query.shape[2] == 1)(a, s, allowed, given)


@wrong("sink", incident="I41", where="a sink and N > 1")
def has_sinks_for_a_single_query_alone(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Has sinks where it decodes, and not where it reads a text."""
    return forgotten(lambda x: x.query.shape[2] > 1)(a, s, allowed, given)


@wrong("sink", incident="I41", where="a sink and M > 16")
def forgets_sinks_beyond_a_tile(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Adds the sink where all keys fit into a tile, and not where tiles are merged."""
    return forgotten(lambda x: x.key.shape[2] > TILE)(a, s, allowed, given)


@wrong("sink", incident="plausible", where="a sink and an idle query")
def has_no_word_for_no_sink(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Multiplies by sigmoid(lse - t), where of -inf less -inf nothing is left."""
    if given.sinks is None:
        return a
    lse = log_sum(forbid(s, allowed))[..., None]
    return a / (1 + np.exp(beside(given.sinks) - lse))


@wrong("sink", incident="plausible", where="a sink")
def adds_the_sink_to_the_first_key(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Takes a sink for a bias of the first key, another thing of the same name."""
    if given.sinks is None:
        return a
    finite = np.where(np.isneginf(given.sinks), 0, given.sinks)
    return softmax(forbid(s + beside(finite) * (np.arange(s.shape[-1]) == 0), allowed))


@wrong("sink", incident="plausible", where="a sink")
def takes_the_first_value_for_that_of_the_sink(
    a: Array, s: Array, allowed: Array, given: Any
) -> Array:
    """Lets the sink read the first value, where nothing is to be read."""
    rest = sink(a, s, allowed, given)
    if given.sinks is None or not a.shape[-1]:
        return rest
    lost = (a - rest).sum(axis=-1, keepdims=True)
    return rest + lost * (np.arange(a.shape[-1]) == 0)


@wrong("sink", incident="plausible", where="a sink and H > 1")
def shares_the_first_sink_among_heads(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Reads the sink without an index of the head."""
    return a if given.sinks is None else sunk(a, s, allowed, beside(given.sinks)[:1])


@wrong("sink", incident="plausible", where="a sink and H > 1")
def reads_sinks_in_reverse(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Stores heads last to first, and sinks first to last."""
    return a if given.sinks is None else sunk(a, s, allowed, beside(given.sinks)[::-1])


@wrong("sink", incident="plausible", where="a sink and H > 1")
def reads_sinks_of_the_batch(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Reads the sink with the index of the batch."""
    if given.sinks is None or not a.shape[1]:
        return a
    t = given.sinks.astype(np.float64)[np.arange(len(a)) % a.shape[1]]
    return sunk(a, s, allowed, t[:, None, None, None])


@wrong("sink", incident="plausible", where="a sink and grouped heads")
def reads_sinks_as_if_heads_were_groups(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Reads the sink with the index of the key head."""
    if given.sinks is None or not a.shape[1]:
        return a
    R = a.shape[1] // max(given.key.shape[1], 1)
    return sunk(a, s, allowed, beside(given.sinks)[np.arange(a.shape[1]) // R])


@wrong("sink", incident="I41", where="a query that sees a sink alone")
def gives_the_mean_where_only_a_sink_is_seen(
    a: Array, s: Array, allowed: Array, given: Any
) -> Array:
    """Fills forbidden scores with a number, and has the sink only beside keys that are seen."""
    rest = sink(a, s, allowed, given)
    if given.sinks is None:
        return rest
    alone = ~allowed.any(axis=-1, keepdims=True) & ~np.isneginf(beside(given.sinks))
    return np.where(alone, 1 / max(a.shape[-1], 1), rest)


@wrong("sink", incident="I41", where="a query that sees a sink alone")
def gives_nan_where_only_a_sink_is_seen(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """Subtracts the largest score, which is -inf where no key is seen."""
    rest = sink(a, s, allowed, given)
    if given.sinks is None:
        return rest
    alone = ~allowed.any(axis=-1, keepdims=True) & ~np.isneginf(beside(given.sinks))
    return np.where(alone, np.nan, rest)
