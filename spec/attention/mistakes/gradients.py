"""The backward pass: the forward one is right, and the training loss still falls.

A gradient that points roughly downhill trains, so nothing notices; a comparison
after one step with a small learning rate does not either. L = <dout, o>.
"""

import numpy as np

from spec.attention.mistakes import backward_steps, steps
from spec.attention.mistakes.exponentials import forbid, softmax
from spec.attention.mistakes.idleness import idle
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.softmax import powers
from spec.attention.mistakes.steps import Heeded, Pass, weigh
from spec.attention.mistakes.tiles import TILE, halves
from spec.notation import Array
from spec.sizes import Sizes

# A query of one key has no gradient but through its log-sum-exp.
SEVERAL = "(several scores or a cotangent of the log-sum-exp)"
MASKS = "gradients of the mask asked for and an additive mask and several scores"

# The Jacobian of the softmax


@wrong("row_term", incident="I21", where="gradients asked for")
def drops_the_row_term(_: Pass, da: Array, __: Array) -> Array:
    """Writes ds = a * da, the derivative of an exponential that nobody normalises."""
    return np.zeros_like(da[..., :1])


@wrong("row_term", incident="I21", where="gradients asked for")
def sums_dout_for_the_row_term(_: Pass, __: Array, dout: Array) -> Array:
    """Sums dout over the columns, and forgets to multiply by the output first."""
    return dout.sum(axis=-1, keepdims=True)


@wrong("row_term", incident="I21", where="gradients asked for and several scores")
def averages_the_row_term(_: Pass, da: Array, __: Array) -> Array:
    """Subtracts the plain mean of da, where the weights should weigh it."""
    return da.sum(axis=-1, keepdims=True) / max(da.shape[-1], 1)


@wrong("score_gradients", incident="I21", where="gradients asked for")
def adds_the_row_term(a: Array, da: Array, row_term: Array) -> Array:
    """Gets the sign of the second half of the Jacobian wrong."""
    return a * (da + row_term)


@wrong("score_gradients", incident="S0", where="gradients asked for and M > 1")
def differentiates_softmax_by_element(a: Array, da: Array, _: Array) -> Array:
    """Takes a (1 - a) for the derivative of the softmax: the diagonal of its Jacobian."""
    return a * (1 - a) * da


# Scales and signs


@wrong("query_gradients", incident="I21", where=f"gradients asked for and {SEVERAL}")
def forgets_the_scale_of_query_gradients(seen: Pass, ds: Array) -> Array:
    """Multiplies by the scale in dk only."""
    return ds @ seen.k


@wrong("key_gradients", incident="I21", where=f"gradients asked for and {SEVERAL}")
def forgets_the_scale_of_key_gradients(seen: Pass, ds: Array) -> Array:
    """Multiplies by the scale in dq only."""
    return ds.swapaxes(-1, -2) @ seen.q


@wrong("query_gradients", incident="I21", where=f"gradients asked for and {SEVERAL}")
def scales_query_gradients_twice(seen: Pass, ds: Array) -> Array:
    """Multiplies by the scale again, having scaled the keys in place."""
    return seen.sigma * backward_steps.query_gradients(seen, ds)


@wrong(
    "scale",
    incident="I14",
    spoils="gradient",
    where=f"gradients asked for and a scale and {SEVERAL}",
)
def differentiates_at_the_default_scale(sizes: Sizes, _: float | None) -> float:
    """Does not save the scale that was asked for, and computes another one in the backward pass."""
    return steps.default_scale(sizes)


# Masks


@wrong(
    "heed",
    incident="I21",
    citation="triton-lang/triton#4541",
    spoils="gradient",
    where="gradients asked for and causal and a hidden key",
)
def differentiates_without_causality(mask: Array | None, _: bool, __: Array) -> Heeded:
    """Does not hand the causal flag to the backward pass."""
    return mask, False


@wrong("heed", incident="I21", spoils="gradient", where="gradients asked for and a mask")
def differentiates_without_the_mask(_: Array | None, causal: bool, __: Array) -> Heeded:
    """Does not save the mask for the backward pass."""
    return None, causal


@wrong(
    "weigh",
    incident="I02",
    citation="Xilinx/brevitas#1591",
    spoils="gradient",
    where="gradients asked for and an idle query",
)
def gives_idle_queries_nan_gradients(s: Array, allowed: Array) -> Array:
    """Zeroes the NaN of an idle row after the softmax, behind the back of differentiation."""
    return np.where(idle(allowed), np.nan, weigh(s, allowed)).astype(s.dtype)


@wrong("weigh", incident="I02", spoils="gradient", where="gradients asked for and an idle query")
def lets_idle_queries_teach_the_values(s: Array, allowed: Array) -> Array:
    """Zeroes the flat weights of an idle row after the softmax, and differentiates them as flat."""
    return softmax(forbid(s, allowed, np.finfo(s.dtype).min))


@wrong(
    "weigh",
    incident="I18",
    citation="SHI-Labs/NATTEN#299",
    spoils="gradient",
    where="gradients asked for and M > 1",
)
def differentiates_with_unmerged_sums(s: Array, allowed: Array) -> Array:
    """Saves the log-sum-exp of each half of the keys, not the merged one."""
    first, second = halves(s, allowed)
    return weigh(s, first) + weigh(s, second)


@wrong("reduce", incident="I21", where=MASKS)
def returns_no_bias_gradient(ds: Array, shape: tuple[int, ...]) -> Array:
    """Treats an additive mask as a constant."""
    return np.zeros(shape, dtype=ds.dtype)


@wrong("reduce", incident="I21", where=MASKS)
def takes_one_slice_of_the_bias_gradient(ds: Array, shape: tuple[int, ...]) -> Array:
    """Takes the first slice along a broadcast axis, where it should add up all."""
    padded = (1,) * (ds.ndim - len(shape)) + shape
    first = ds[tuple(slice(size) for size in padded)]
    return first.reshape(shape) if ds.size else backward_steps.reduce(ds, shape)


# Groups of heads


@wrong(
    "gather",
    incident="I20",
    citation="marin-community/levanter#449",
    where="gradients asked for and grouped heads",
)
def takes_one_head_of_each_group(x: Array, key_heads: int) -> Array:
    """Writes the gradient of a key head once for each query head, and the last one stays."""
    return x[:, :: x.shape[1] // max(key_heads, 1)]


@wrong("gather", incident="I20", where="gradients asked for and grouped heads")
def averages_over_each_group(x: Array, key_heads: int) -> Array:
    """Takes the mean over the query heads that share a key head."""
    return backward_steps.gather(x, key_heads) / max(x.shape[1] // max(key_heads, 1), 1)


@wrong(
    "gather",
    incident="I20",
    citation="XunhaoLai/native-sparse-attention-triton#27",
    where="gradients asked for and grouped heads and G > 1",
)
def gathers_interleaved_heads(x: Array, key_heads: int) -> Array:
    """Finds the key head of a query head with % where the forward pass used //."""
    group = x.shape[1] // max(key_heads, 1)
    return x.reshape(x.shape[0], group, key_heads, *x.shape[2:]).sum(axis=1)


# What is left out, or taken from the wrong place


@wrong("key_gradients", incident="plausible", where=f"gradients asked for and {SEVERAL}")
def drops_the_last_query_from_key_gradients(seen: Pass, ds: Array) -> Array:
    """Ends the loop over the queries one too early."""
    return seen.sigma * (ds[..., :-1, :].swapaxes(-1, -2) @ seen.q[..., :-1, :])


@wrong(
    "value_gradients",
    incident="I13",
    citation="flagos-ai/FlagGems#898",
    where="gradients asked for and N > 16 and N % 16 != 0",
)
def drops_the_tail_from_value_gradients(seen: Pass, dout: Array) -> Array:
    """Rounds the number of tiles of queries down, once there is more than one."""
    whole = seen.sizes.N // TILE * TILE or seen.sizes.N
    return seen.a[..., :whole, :].swapaxes(-1, -2) @ dout[..., :whole, :]


@wrong("value_gradients", incident="I21", where="gradients asked for and several scores")
def forgets_the_denominator_of_value_gradients(seen: Pass, dout: Array) -> Array:
    """Recomputes exp(s - max) in the backward pass, and does not normalise it."""
    return powers(seen.s, seen.allowed).swapaxes(-1, -2) @ dout


@wrong("key_gradients", incident="I21", where=f"gradients asked for and N = M and {SEVERAL}")
def gives_keys_the_gradients_of_queries(seen: Pass, ds: Array) -> Array:
    """Returns dq in the place of dk, if the shapes agree."""
    dq, dk = backward_steps.query_gradients(seen, ds), backward_steps.key_gradients(seen, ds)
    return dq if dq.shape == dk.shape else dk


@wrong("receive", incident="plausible", where="gradients asked for")
def differentiates_the_sum_of_the_output(dout: Array) -> Array:
    """Puts ones in the place of dout, which is right for the loss `out.sum()` of every example."""
    return np.ones_like(dout)


@wrong("query_gradients", incident="plausible", where=f"gradients asked for and {SEVERAL}")
def returns_zero_query_gradients(seen: Pass, _: Array) -> Array:
    """Returns zeros, which published tolerances let pass where gradients are small."""
    return np.zeros_like(seen.q)


@wrong("score_gradients", incident="plausible", where="gradients asked for and several scores")
def detaches_the_weights(a: Array, _: Array, __: Array) -> Array:
    """Treats the weights as constants, so that only the values learn."""
    return np.zeros_like(a)
