"""Known bugs of the backward pass through attention sinks: wrong gradients or wrong weights."""

from typing import Any

import numpy as np

from spec.attention.mistakes.backward_steps import sink_gradients
from spec.attention.mistakes.exponentials import divided, forbid, taken
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import Pass
from spec.notation import Array

BACK = "gradients asked for and an attention sink"
OF_SINKS = "gradients of the sinks asked for and an attention sink"


def share(seen: Pass) -> Array:
    """exp(t_h - lse_i), the share of the sink.   (B, H, N)"""
    assert seen.sinks is not None
    return taken(forbid(seen.s, seen.allowed), seen.sinks)[..., 0]


@wrong("sink", spoils="gradient", incident="BUG-41", where=BACK)
def differentiates_without_the_sinks(a: Array, _: Array, __: Array, ___: Any) -> Array:
    """Recomputes the weights in the backward pass without the sinks."""
    return a


@wrong("row_term", incident="plausible", where=BACK)
def divides_the_row_term_by_what_is_left(seen: Pass, da: Array, _: Array) -> Array:
    """Divides the row term sum_j a_ij da_ij by sum_j a_ij, which is below 1 with a sink."""
    total = seen.a.sum(axis=-1, keepdims=True)
    return divided((seen.a * da).sum(axis=-1, keepdims=True), total)


@wrong("sink_gradients", incident="BUG-41", where=OF_SINKS)
def returns_zero_gradients_of_sinks(seen: Pass, _: Array) -> Array:
    """Returns zero for the gradient of the sinks, which is not implemented."""
    return np.zeros(seen.a.shape[1])


@wrong("sink_gradients", incident="plausible", where=f"{OF_SINKS} and B > 1")
def takes_sink_gradients_from_the_first_batch(seen: Pass, dout: Array) -> Array:
    """Returns the sink gradient of the first batch element instead of the sum over the batch."""
    return -(share(seen) * (dout * seen.o).sum(axis=-1))[:1].sum(axis=(0, 2))


@wrong("sink_gradients", incident="plausible", where=OF_SINKS)
def takes_the_gradient_of_a_sink_to_be_positive(seen: Pass, dout: Array) -> Array:
    """Returns the gradient of the sinks with the wrong sign."""
    return -sink_gradients(seen, dout)


@wrong("sink_gradients", incident="plausible", where=f"{OF_SINKS} and N > 1")
def averages_sink_gradients_over_queries(seen: Pass, dout: Array) -> Array:
    """Averages the sink gradient over the queries instead of summing it."""
    return sink_gradients(seen, dout) / max(seen.sizes.N, 1)


@wrong("sink_gradients", incident="plausible", where=OF_SINKS)
def forgets_the_output_in_sink_gradients(seen: Pass, dout: Array) -> Array:
    """Uses the sum of dout in the sink gradient instead of the inner product <dout, o>."""
    return -(share(seen) * dout.sum(axis=-1)).sum(axis=(0, 2))


@wrong("sink_gradients", incident="plausible", where=OF_SINKS)
def forgets_the_share_in_sink_gradients(seen: Pass, dout: Array) -> Array:
    """Leaves the sink's share exp(t_h - lse_i) out of the sink gradient."""
    return -(dout * seen.o).sum(axis=(0, 2, 3))
