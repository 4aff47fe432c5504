"""Known bugs of the backward pass through the log-sum-exp: its cotangent is dropped or misused.

A backward pass adds a_ij dlse_i in a single line. Only losses that depend on the log-sum-exp, and
merges of partial results, show that the line is missing or wrong.
"""

import math
from dataclasses import replace

import numpy as np

from spec.attention.mistakes.backward_steps import learn, sink_gradients, uncap, value_gradients
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import Pass
from spec.notation import Array

LSE = "a cotangent of the log-sum-exp"
BACK = f"gradients asked for and {LSE}"


def sent(seen: Pass, dlse: Array | None) -> Pass:
    """The same forward pass with another cotangent of the log-sum-exp."""
    return replace(seen, given=seen.given.but(dlse=dlse))


@wrong("learn", incident="plausible", where=BACK)
def learns_nothing_through_lse(ds: Array, _: Pass) -> Array:
    """Accepts dlse, the cotangent of the log-sum-exp, but does not use it."""
    return ds


@wrong("learn", incident="plausible", where=BACK)
def adds_the_cotangent_of_lse_to_the_row_term(ds: Array, seen: Pass) -> Array:
    """Subtracts a_ij dlse_i from the score gradient instead of adding it."""
    return 2 * ds - learn(ds, seen)


@wrong("learn", incident="plausible", where=BACK)
def learns_lse_in_base_two(ds: Array, seen: Pass) -> Array:
    """Multiplies dlse by log2(e), as if the log-sum-exp were returned in base two."""
    return ds + (learn(ds, seen) - ds) * math.log2(math.e)


@wrong("learn", incident="plausible", where=f"{BACK} and M > 1")
def averages_the_cotangent_of_lse_over_keys(ds: Array, seen: Pass) -> Array:
    """Divides dlse by the number of keys before multiplying it by the weights."""
    return ds + (learn(ds, seen) - ds) / max(seen.sizes.M, 1)


@wrong("learn", incident="plausible", where=f"{BACK} and H > 1")
def gives_all_heads_the_cotangent_of_the_first(ds: Array, seen: Pass) -> Array:
    """Uses dlse of the first head for every head (a head stride of 0)."""
    given = seen.given
    first = None if given.dlse is None else np.broadcast_to(given.dlse[:, :1], given.dlse.shape)
    return learn(ds, sent(seen, first))


@wrong("learn", incident="plausible", where=BACK)
def learns_from_one_cotangent_at_a_time(ds: Array, seen: Pass) -> Array:
    """Ignores dlse unless the gradient through the output is zero everywhere."""
    return ds if ds.any() else learn(ds, seen)


@wrong(
    "learn",
    incident="plausible",
    where=f"{BACK} and (a fully masked query or a query that sees only an attention sink)",
)
def has_no_number_for_what_nothing_teaches(ds: Array, seen: Pass) -> Array:
    """Returns NaN gradients, not zero, if a query is fully masked and dlse is given."""
    if seen.given.dlse is None:
        return ds
    live = seen.allowed.any(axis=-1, keepdims=True)
    return np.where(live, learn(ds, seen), np.nan)


@wrong("uncap", incident="plausible", where=f"{BACK} and a soft-cap")
def sends_the_cotangent_of_lse_past_the_cap(ds: Array, seen: Pass) -> Array:
    """Leaves the derivative of the soft-cap out of the gradient through the log-sum-exp."""
    if seen.given.dlse is None:
        return uncap(ds, seen)
    past = seen.a * seen.given.dlse[..., None]
    return uncap(ds - past, seen) + past


@wrong("value_gradients", incident="plausible", where=BACK)
def teaches_values_through_lse(seen: Pass, dout: Array) -> Array:
    """Adds dlse to dout, so the values receive a gradient through the log-sum-exp."""
    given = seen.given
    return value_gradients(seen, dout if given.dlse is None else dout + given.dlse[..., None])


@wrong(
    "sink_gradients",
    incident="plausible",
    where=f"gradients of the sinks asked for and an attention sink and {LSE}",
)
def forgets_the_log_sum_exp_in_sink_gradients(seen: Pass, dout: Array) -> Array:
    """Leaves dlse out of the sink gradient, which also flows through the log-sum-exp."""
    return sink_gradients(sent(seen, None), dout)
