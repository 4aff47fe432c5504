"""Known bugs of the backward pass: the forward pass is right, and the training loss still falls.

A gradient that points roughly downhill still trains a model, so the bug is not noticed. A
comparison after one step with a small learning rate does not show it either. L = <dout, o>.
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

# The score of a single key has no gradient except through the log-sum-exp.
SEVERAL = "(several scores or a cotangent of the log-sum-exp)"
MASKS = "gradients of the mask asked for and an additive mask and several scores"

# The Jacobian of the softmax


@wrong("row_term", incident="BUG-21", where="gradients asked for")
def drops_the_row_term(_: Pass, da: Array, __: Array) -> Array:
    """Writes ds = a * da, without subtracting the row term sum_j a_ij da_ij of the softmax."""
    return np.zeros_like(da[..., :1])


@wrong("row_term", incident="BUG-21", where="gradients asked for")
def sums_dout_for_the_row_term(_: Pass, __: Array, dout: Array) -> Array:
    """Computes the row term as the sum of dout instead of the sum of dout * o."""
    return dout.sum(axis=-1, keepdims=True)


@wrong("row_term", incident="BUG-21", where="gradients asked for and several scores")
def averages_the_row_term(_: Pass, da: Array, __: Array) -> Array:
    """Computes the row term as the plain mean of da instead of its sum weighted by a."""
    return da.sum(axis=-1, keepdims=True) / max(da.shape[-1], 1)


@wrong("score_gradients", incident="BUG-21", where="gradients asked for")
def adds_the_row_term(a: Array, da: Array, row_term: Array) -> Array:
    """Adds the row term of the softmax Jacobian instead of subtracting it."""
    return a * (da + row_term)


@wrong("score_gradients", incident="list-of-heads", where="gradients asked for and M > 1")
def differentiates_softmax_by_element(a: Array, da: Array, _: Array) -> Array:
    """Uses a (1 - a) as the derivative of the softmax, only the diagonal of its Jacobian."""
    return a * (1 - a) * da


# Scales and signs


@wrong("query_gradients", incident="BUG-21", where=f"gradients asked for and {SEVERAL}")
def forgets_the_scale_of_query_gradients(seen: Pass, ds: Array) -> Array:
    """Leaves the scale out of dq; dk contains it."""
    return ds @ seen.k


@wrong("key_gradients", incident="BUG-21", where=f"gradients asked for and {SEVERAL}")
def forgets_the_scale_of_key_gradients(seen: Pass, ds: Array) -> Array:
    """Leaves the scale out of dk; dq contains it."""
    return ds.swapaxes(-1, -2) @ seen.q


@wrong("query_gradients", incident="BUG-21", where=f"gradients asked for and {SEVERAL}")
def scales_query_gradients_twice(seen: Pass, ds: Array) -> Array:
    """Multiplies dq by the scale twice, for example because the saved keys are already scaled."""
    return seen.sigma * backward_steps.query_gradients(seen, ds)


@wrong(
    "scale",
    incident="BUG-14",
    spoils="gradient",
    where=f"gradients asked for and a scale and {SEVERAL}",
)
def differentiates_at_the_default_scale(sizes: Sizes, _: float | None) -> float:
    """Uses the default scale in the backward pass, although the call gives another scale."""
    return steps.default_scale(sizes)


# Masks


@wrong(
    "heed",
    incident="BUG-21",
    citation="triton-lang/triton#4541",
    spoils="gradient",
    where="gradients asked for and causal and a masked key",
)
def differentiates_without_causality(mask: Array | None, _: bool, __: Array) -> Heeded:
    """Ignores the causal flag in the backward pass."""
    return mask, False


@wrong("heed", incident="BUG-21", spoils="gradient", where="gradients asked for and a mask")
def differentiates_without_the_mask(_: Array | None, causal: bool, __: Array) -> Heeded:
    """Ignores the mask in the backward pass."""
    return None, causal


@wrong(
    "weigh",
    incident="BUG-02",
    citation="Xilinx/brevitas#1591",
    spoils="gradient",
    where="gradients asked for and a fully masked query",
)
def gives_idle_queries_nan_gradients(s: Array, allowed: Array) -> Array:
    """Returns NaN gradients for a fully masked query: it replaces NaN only after the softmax."""
    return np.where(idle(allowed), np.nan, weigh(s, allowed)).astype(s.dtype)


@wrong(
    "weigh",
    incident="BUG-02",
    spoils="gradient",
    where="gradients asked for and a fully masked query",
)
def lets_idle_queries_teach_the_values(s: Array, allowed: Array) -> Array:
    """Differentiates a fully masked query as if it had uniform weights, though its output is 0."""
    return softmax(forbid(s, allowed, np.finfo(s.dtype).min))


@wrong(
    "weigh",
    incident="BUG-18",
    citation="SHI-Labs/NATTEN#299",
    spoils="gradient",
    where="gradients asked for and M > 1",
)
def differentiates_with_unmerged_sums(s: Array, allowed: Array) -> Array:
    """Normalises the weights in the backward pass over each half of the keys, not over all keys."""
    first, second = halves(s, allowed)
    return weigh(s, first) + weigh(s, second)


@wrong("reduce", incident="BUG-21", where=MASKS)
def returns_no_bias_gradient(ds: Array, shape: tuple[int, ...]) -> Array:
    """Returns a zero gradient for an additive mask, as if the mask were a constant."""
    return np.zeros(shape, dtype=ds.dtype)


@wrong("reduce", incident="BUG-21", where=MASKS)
def takes_one_slice_of_the_bias_gradient(ds: Array, shape: tuple[int, ...]) -> Array:
    """Returns the first slice of the bias gradient along a broadcast axis instead of the sum."""
    padded = (1,) * (ds.ndim - len(shape)) + shape
    first = ds[tuple(slice(size) for size in padded)]
    return first.reshape(shape) if ds.size else backward_steps.reduce(ds, shape)


# Grouped heads


@wrong(
    "gather",
    incident="BUG-20",
    citation="marin-community/levanter#449",
    where="gradients asked for and grouped heads",
)
def takes_one_head_of_each_group(x: Array, key_heads: int) -> Array:
    """Returns dk and dv of the first query head of each group instead of the sum over the group."""
    return x[:, :: x.shape[1] // max(key_heads, 1)]


@wrong("gather", incident="BUG-20", where="gradients asked for and grouped heads")
def averages_over_each_group(x: Array, key_heads: int) -> Array:
    """Averages dk and dv over the query heads that share a key head instead of summing them."""
    return backward_steps.gather(x, key_heads) / max(x.shape[1] // max(key_heads, 1), 1)


@wrong(
    "gather",
    incident="BUG-20",
    citation="XunhaoLai/native-sparse-attention-triton#27",
    where="gradients asked for and grouped heads and G > 1",
)
def gathers_interleaved_heads(x: Array, key_heads: int) -> Array:
    """Adds the gradient of query head h to key head h % G; the forward pass uses h // (H / G)."""
    group = x.shape[1] // max(key_heads, 1)
    return x.reshape(x.shape[0], group, key_heads, *x.shape[2:]).sum(axis=1)


# Terms that are left out, or replaced by others


@wrong("key_gradients", incident="plausible", where=f"gradients asked for and {SEVERAL}")
def drops_the_last_query_from_key_gradients(seen: Pass, ds: Array) -> Array:
    """Leaves the last query out of dk: the loop over the queries ends one too early."""
    return seen.sigma * (ds[..., :-1, :].swapaxes(-1, -2) @ seen.q[..., :-1, :])


@wrong(
    "value_gradients",
    incident="BUG-13",
    citation="flagos-ai/FlagGems#898",
    where="gradients asked for and N > 16 and N % 16 != 0",
)
def drops_the_tail_from_value_gradients(seen: Pass, dout: Array) -> Array:
    """Leaves the last, incomplete tile of queries out of dv, if there is more than one tile."""
    whole = seen.sizes.N // TILE * TILE or seen.sizes.N
    return seen.a[..., :whole, :].swapaxes(-1, -2) @ dout[..., :whole, :]


@wrong("value_gradients", incident="BUG-21", where="gradients asked for and several scores")
def forgets_the_denominator_of_value_gradients(seen: Pass, dout: Array) -> Array:
    """Computes dv with exp(s - max) instead of the normalised weights."""
    return powers(seen.s, seen.allowed).swapaxes(-1, -2) @ dout


@wrong("key_gradients", incident="BUG-21", where=f"gradients asked for and N = M and {SEVERAL}")
def gives_keys_the_gradients_of_queries(seen: Pass, ds: Array) -> Array:
    """Returns dq in place of dk if N = M, where both have the same shape."""
    dq, dk = backward_steps.query_gradients(seen, ds), backward_steps.key_gradients(seen, ds)
    return dq if dq.shape == dk.shape else dk


@wrong("receive", incident="plausible", where="gradients asked for")
def differentiates_the_sum_of_the_output(dout: Array) -> Array:
    """Uses ones instead of dout, which is right only for the loss `out.sum()`."""
    return np.ones_like(dout)


@wrong("query_gradients", incident="plausible", where=f"gradients asked for and {SEVERAL}")
def returns_zero_query_gradients(seen: Pass, _: Array) -> Array:
    """Returns zeros as dq, which a fixed tolerance accepts where gradients are small."""
    return np.zeros_like(seen.q)


@wrong("score_gradients", incident="plausible", where="gradients asked for and several scores")
def detaches_the_weights(a: Array, _: Array, __: Array) -> Array:
    """Treats the weights as constants, so no gradient of the output flows through them."""
    return np.zeros_like(a)
