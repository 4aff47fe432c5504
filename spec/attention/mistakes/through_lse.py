"""The way back through the log-sum-exp: a cotangent that is dropped, misread, or sent elsewhere.

A backward pass adds a_ij dlse_i, in one place; who never asks for it never sees that it is not
there. Parts that are merged, and losses on the log-sum-exp, do.
"""

from dataclasses import replace

import numpy as np

from spec.attention.mistakes.backward_steps import learn, sink_gradients, uncap, value_gradients
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import Pass
from spec.notation import Array

BACK = "gradients asked for and a cotangent of the log-sum-exp"


def sent(seen: Pass, dlse: Array | None) -> Pass:
    """The same forward pass, another cotangent."""
    return replace(seen, given=seen.given.but(dlse=dlse))


@wrong("learn", incident="plausible", where=BACK)
def learns_nothing_through_lse(ds: Array, _: Pass) -> Array:
    """Takes the cotangent of the log-sum-exp, and does nothing with it."""
    return ds


@wrong("learn", incident="plausible", where=BACK)
def adds_the_cotangent_of_lse_to_the_row_term(ds: Array, seen: Pass) -> Array:
    """Loses the sign: the row term is subtracted, and dlse is not."""
    return 2 * ds - learn(ds, seen)


@wrong("learn", incident="plausible", where=BACK)
def learns_lse_in_base_two(ds: Array, seen: Pass) -> Array:
    """Differentiates the logarithm to base two that its kernel works with."""
    return ds + (learn(ds, seen) - ds) * np.log2(np.e)


@wrong("learn", incident="plausible", where=f"{BACK} and M > 1")
def averages_the_cotangent_of_lse_over_keys(ds: Array, seen: Pass) -> Array:
    """Hands each key an equal part beforehand, and then its weight of that."""
    return ds + (learn(ds, seen) - ds) / max(seen.sizes.M, 1)


@wrong("learn", incident="plausible", where=f"{BACK} and H > 1")
def gives_all_heads_the_cotangent_of_the_first(ds: Array, seen: Pass) -> Array:
    """Reads the cotangent with a stride of zero along the heads."""
    given = seen.given
    first = None if given.dlse is None else np.broadcast_to(given.dlse[:, :1], given.dlse.shape)
    return learn(ds, sent(seen, first))


@wrong("learn", incident="plausible", where=BACK)
def learns_from_one_cotangent_at_a_time(ds: Array, seen: Pass) -> Array:
    """Has a path for losses on the log-sum-exp, which is not taken if the output has one."""
    return ds if ds.any() else learn(ds, seen)


@wrong(
    "learn",
    incident="plausible",
    where=f"{BACK} and (an idle query or a query that sees a sink alone)",
)
def has_no_number_for_what_nothing_teaches(ds: Array, seen: Pass) -> Array:
    """Finds the weights again as exp(s - lse), which of an idle query is exp(-inf + inf)."""
    if seen.given.dlse is None:
        return ds
    live = seen.allowed.any(axis=-1, keepdims=True)
    return np.where(live, learn(ds, seen), np.nan)


@wrong("uncap", incident="plausible", where=f"{BACK} and a cap")
def sends_the_cotangent_of_lse_past_the_cap(ds: Array, seen: Pass) -> Array:
    """Adds what comes through the log-sum-exp behind the cap, which it came through as well."""
    if seen.given.dlse is None:
        return uncap(ds, seen)
    past = seen.a * seen.given.dlse[..., None]
    return uncap(ds - past, seen) + past


@wrong("value_gradients", incident="plausible", where=BACK)
def teaches_values_through_lse(seen: Pass, dout: Array) -> Array:
    """Folds one cotangent into the other beforehand, and sends the sum to the values."""
    given = seen.given
    return value_gradients(seen, dout if given.dlse is None else dout + given.dlse[..., None])


@wrong(
    "sink_gradients",
    incident="plausible",
    where="gradients of the sinks asked for and a sink and a cotangent of the log-sum-exp",
)
def forgets_the_log_sum_exp_in_sink_gradients(seen: Pass, dout: Array) -> Array:
    """Sends to the sink what the output sends, and not what the log-sum-exp does."""
    return sink_gradients(sent(seen, None), dout)
