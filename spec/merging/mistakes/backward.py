"""Known bugs in the gradients of a merge, and in the side effects of the call."""

from typing import Any

import numpy as np

from spec.merging.mistakes import steps
from spec.merging.mistakes.making import Right, wrong
from spec.merging.mistakes.steps import Pass
from spec.notation import Array

Pair = tuple[Array, Array]


# Gradients


@wrong("to_lse", incident="BUG-21", where="gradients asked for and a nonempty state")
def takes_the_weights_for_constants(_: Pass, __: Array, dlse: Array) -> Pair:
    """Treats the weights as constants, so both log-sum-exps receive a gradient of zero."""
    return np.zeros_like(dlse), np.zeros_like(dlse)


@wrong("to_lse", incident="BUG-21", where="gradients asked for and a cotangent of lse")
def drops_the_cotangent_of_lse(seen: Pass, do: Array, dlse: Array) -> Pair:
    """Ignores the cotangent of the merged log-sum-exp, and differentiates the output only."""
    return steps.to_lse(seen, do, np.zeros_like(dlse))


@wrong("to_lse", incident="BUG-21", where="gradients asked for and a nonempty state")
def drops_the_output_from_the_difference(seen: Pass, do: Array, dlse: Array) -> Pair:
    """Uses <do, o_i> instead of <do, o_i - o> in the gradients of the log-sum-exps."""
    pairs = ((seen.w_1, seen.o_1), (seen.w_2, seen.o_2))
    one, two = (w * ((do * o).sum(axis=-1) + dlse) for w, o in pairs)
    return one, two


@wrong("to_lse", incident="BUG-21", where="gradients asked for and a cotangent of lse")
def hands_the_cotangent_of_lse_to_both(seen: Pass, do: Array, dlse: Array) -> Pair:
    """Passes dlse to both states in full instead of multiplying it by their weights."""
    one, two = steps.to_lse(seen, do, np.zeros_like(dlse))
    return one + dlse, two + dlse


@wrong("to_lse", incident="BUG-21", where="gradients asked for and E > 1 and two nonempty states")
def averages_over_the_width(seen: Pass, do: Array, dlse: Array) -> Pair:
    """Averages over the columns in the gradients of the log-sum-exps instead of summing."""
    return steps.to_lse(seen, do / do.shape[-1], dlse)


@wrong("to_outputs", incident="BUG-21", where="gradients asked for and a nonempty state")
def hands_the_whole_cotangent_to_both(_: Pass, do: Array) -> Pair:
    """Passes do to both states in full instead of multiplying it by their weights."""
    return do, do


@wrong(
    "to_outputs",
    incident="BUG-21",
    where="gradients asked for and (states that differ or an empty state with a nonempty one)",
)
def swaps_the_weights_backward(seen: Pass, do: Array) -> Pair:
    """Multiplies the gradient of each output by the weight of the other state."""
    return seen.w_2[..., None] * do, seen.w_1[..., None] * do


@wrong("to_lse", incident="BUG-02", where="gradients asked for and an empty state")
def gives_nan_for_the_gradient_of_nothing(seen: Pass, do: Array, dlse: Array) -> Pair:
    """Returns NaN as the gradient of the log-sum-exp of an empty state."""
    one, two = steps.to_lse(seen, do, dlse)
    gone = np.isneginf(seen.l_1), np.isneginf(seen.l_2)
    return np.where(gone[0], np.nan, one), np.where(gone[1], np.nan, two)


@wrong(
    "to_lse", incident="BUG-02", where="gradients asked for and an empty state with a nonempty one"
)
def hands_an_empty_state_its_half(seen: Pass, do: Array, dlse: Array) -> Pair:
    """Gives an empty state half of dlse, which it takes from the other state."""
    one, two = steps.to_lse(seen, do, dlse)
    gone = np.isneginf(seen.l_1), np.isneginf(seen.l_2)
    half = np.where(gone[0] ^ gone[1], dlse / 2, 0)
    return np.where(gone[0], one + half, one - half), np.where(gone[1], two + half, two - half)


@wrong("to_lse", incident="BUG-21", where="gradients asked for and B > 1")
def adds_gradients_over_the_batch(seen: Pass, do: Array, dlse: Array) -> Pair:
    """Sums the gradients of the log-sum-exps over the batch, as if its elements shared them."""
    one, two = steps.to_lse(seen, do, dlse)
    one, two = (np.broadcast_to(x.sum(axis=0, keepdims=True), x.shape) for x in (one, two))
    return one, two


_gradients: dict[tuple[int, ...], Array] = {}


@wrong("give_back", incident="BUG-29", where="gradients asked for")
def accumulates_gradients(right: Right, *arrays: Array) -> tuple[Array, ...]:
    """Adds the gradient of the first output to those of earlier calls with the same shape."""
    do_1, *others = right(*arrays)
    found = _gradients.get(do_1.shape, np.zeros_like(do_1)) + do_1
    _gradients[do_1.shape] = found
    return found.astype(do_1.dtype), *others


# The call


@wrong("call", incident="BUG-37")
def merges_into_the_first(
    right: Right, o_1: Array, lse_1: Array, o_2: Array, lse_2: Array
) -> tuple[Array, Array]:
    """Writes the merged output into the caller's first output."""
    o, lse = right(o_1, lse_1, o_2, lse_2)
    o_1[...] = o
    return o, lse


@wrong("call", incident="BUG-37", where="a watched call asked for")
def updates_the_log_sum_exp_in_place(
    right: Right, o_1: Array, lse_1: Array, o_2: Array, lse_2: Array
) -> tuple[Array, Array]:
    """Writes the merged log-sum-exp into the caller's first log-sum-exp."""
    o, lse = right(o_1, lse_1, o_2, lse_2)
    lse_1[...] = lse
    return o, lse


_outputs: dict[tuple[Any, ...], tuple[Array, Array]] = {}


@wrong("call", incident="BUG-29")
def remembers_states_by_their_log_sum_exps(
    right: Right, o_1: Array, lse_1: Array, o_2: Array, lse_2: Array
) -> tuple[Array, Array]:
    """Caches results by the log-sum-exps, and returns them for other outputs of that shape."""
    key = (o_1.shape, lse_1.tobytes(), lse_2.tobytes())
    return _outputs.setdefault(key, right(o_1, lse_1, o_2, lse_2))
