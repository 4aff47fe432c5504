"""Known bugs of the weights, the log-sum-exp and the output in training; the output is correct.

Weights and log-sum-exp are rarely tested. Errors show when two blocks are merged by their
log-sum-exp, or when a model is explained by its weights. A separate path for training is often
tested only through its gradients, which do not show a wrong output.
"""

import math

import numpy as np

from spec.attention.mistakes import exponentials, steps
from spec.attention.mistakes.exponentials import softmax_with_sink
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.numbers import BFLOAT16, shortened
from spec.attention.mistakes.softmax import powers
from spec.attention.mistakes.steps import Pass
from spec.notation import Array
from spec.sizes import Sizes

WITHOUT_KEYS = "(a fully masked query or a query that sees only an attention sink)"

# Weights


@wrong("show", incident="BUG-37", where="the weights asked for and a masked key")
def shows_weights_before_masking(seen: Pass) -> Array:
    """Returns the softmax over all keys as the weights, masked keys included."""
    return softmax_with_sink(seen.s, seen)


@wrong(
    "show",
    incident="BUG-37",
    citation="facebookresearch/fairseq#3365",
    where="the weights asked for and H > 1 and (several scores or a mask per head)",
)
def shows_the_mean_over_heads(seen: Pass) -> Array:
    """Returns the mean of the weights over the heads instead of the weights of each head."""
    mean = seen.a.sum(axis=1, keepdims=True) / max(seen.sizes.H, 1)
    return np.broadcast_to(mean, seen.a.shape)


@wrong("show", incident="BUG-37", where="the weights asked for and N = M and M > 1")
def shows_weights_transposed(seen: Pass) -> Array:
    """Returns the weights as keys by queries when N = M, where the shapes still fit."""
    return seen.a.swapaxes(-1, -2) if seen.sizes.N == seen.sizes.M else seen.a


@wrong("show", incident="BUG-37", where="the weights asked for and several scores")
def shows_weights_before_normalising(seen: Pass) -> Array:
    """Returns exp(s - max) as the weights, without dividing by the sum."""
    return powers(seen.s, seen.allowed)


@wrong("show", incident="BUG-37", where="the weights asked for")
def shows_scores_for_weights(seen: Pass) -> Array:
    """Returns the scores instead of the weights, with 0 for masked keys."""
    return np.where(seen.allowed, seen.s, 0)


@wrong(
    "show",
    incident="BUG-01",
    citation="pytorch/pytorch#160064",
    where=f"the weights asked for and {WITHOUT_KEYS}",
)
def shows_nan_for_idle_queries(seen: Pass) -> Array:
    """Returns NaN as the weights of a fully masked query, although its output is correct."""
    return np.where(seen.allowed.any(axis=-1, keepdims=True), seen.a, np.nan)


# Log-sum-exp


@wrong(
    "measure",
    incident="BUG-18",
    citation="sgl-project/sglang#40903",
    convention=("lse-base", "2"),
    where="the log-sum-exp asked for",
)
def measures_lse_in_base_two(seen: Pass) -> Array:
    """Returns the log-sum-exp in base 2 instead of as a natural logarithm."""
    return steps.measure(seen) * np.log2(math.e)


@wrong("measure", incident="BUG-18", where="the log-sum-exp asked for")
def forgets_the_maximum_in_lse(seen: Pass) -> Array:
    """Returns log(sum exp(s - max)) as the log-sum-exp, without adding the maximum back."""
    return exponentials.with_sink(np.log(powers(seen.s, seen.allowed).sum(axis=-1)), seen)


@wrong("measure", incident="BUG-18", where="the log-sum-exp asked for")
def measures_lse_of_unscaled_scores(seen: Pass) -> Array:
    """Adds the maximum of the unscaled products, not of the scores, back to the log-sum-exp."""
    raw = seen.q @ seen.k.swapaxes(-1, -2)
    top_raw = exponentials.top(exponentials.forbid(raw, seen.allowed))
    top_s = exponentials.top(exponentials.forbid(seen.s, seen.allowed))
    return steps.measure(seen) - (top_s - top_raw)[..., 0]


@wrong("measure", incident="BUG-18", where="the log-sum-exp asked for and a masked key")
def measures_lse_before_masking(seen: Pass) -> Array:
    """Sums over all keys in the log-sum-exp, masked keys included."""
    return exponentials.with_sink(exponentials.log_sum(seen.s), seen)


@wrong("measure", incident="BUG-18", where="the log-sum-exp asked for and finite biases")
def measures_lse_without_the_bias(seen: Pass) -> Array:
    """Leaves finite biases out of the log-sum-exp, and applies only the masking."""
    return exponentials.with_sink(
        exponentials.log_sum(exponentials.forbid(seen.s - seen.bias, seen.allowed)), seen
    )


@wrong("measure", incident="BUG-18", where="the log-sum-exp asked for and M > 1")
def measures_the_log_of_the_mean(seen: Pass) -> Array:
    """Divides the sum of exponentials by the number of keys before it takes the logarithm."""
    return steps.measure(seen) - np.log(max(seen.sizes.M, 1))


@wrong("measure", incident="BUG-18", where=f"the log-sum-exp asked for and {WITHOUT_KEYS}")
def measures_zero_for_idle_queries(seen: Pass) -> Array:
    """Returns a log-sum-exp of 0 for a fully masked query, instead of -inf or the sink."""
    return np.where(seen.allowed.any(axis=-1), steps.measure(seen), 0)


@wrong(
    "measure",
    incident="plausible",
    convention=("fully-masked-lse", "+inf"),
    where="the log-sum-exp asked for and a fully masked query",
)
def measures_infinity_for_idle_queries(seen: Pass) -> Array:
    """Returns +inf, not -inf, as the log-sum-exp of a fully masked query without a sink."""
    lse = steps.measure(seen)
    return np.where(np.isneginf(lse), np.inf, lse)


@wrong(
    "measure",
    incident="BUG-18",
    citation="vllm-project/flash-attention#87",
    where="the log-sum-exp asked for and grouped heads and G > 1 and N = 1 and M > 8",
)
def measures_split_keys_in_the_order_of_groups(seen: Pass) -> Array:
    """Returns the log-sum-exp of a single query and split keys in another order of the heads."""
    lse, (B, H, G, N, M, *_) = steps.measure(seen), seen.sizes
    if N != 1 or M <= 8 or H == G:
        return lse
    return lse.reshape(B, G, H // G, 1).swapaxes(1, 2).reshape(B, H, 1)


# The output in training


@wrong(
    "scale",
    incident="plausible",
    spoils="training",
    where="the output as training computes it asked for and several scores",
)
def forgets_the_scale_in_training(sizes: Sizes, asked: float | None) -> float:  # noqa: ARG001
    """Does not scale the scores in training; only the path for inference does."""
    return 1.0


@wrong(
    "combine",
    incident="plausible",
    spoils="training",
    where="the output as training computes it asked for",
)
def rounds_the_output_to_bfloat16_in_training(a: Array, v: Array, allowed: Array) -> Array:
    """Rounds the output to bfloat16 in training, as if mixed precision were left on."""
    return shortened(steps.combine(a, v, allowed), BFLOAT16)
