"""Weights, log-sum-exp and an output in training that are not those of the output, which is right.

What is only looked at is rarely tested, until somebody merges two blocks by
their log-sum-exp, or explains a model by its weights. A path of its own for training is looked
at through its gradients only, which do not tell an output.
"""

import numpy as np

from spec.attention.mistakes import exponentials, steps
from spec.attention.mistakes.exponentials import softmax_with_sink
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.numbers import BFLOAT16, shortened
from spec.attention.mistakes.softmax import powers
from spec.attention.mistakes.steps import Pass
from spec.notation import Array
from spec.sizes import Sizes

# Weights


@wrong("show", incident="I37", where="the weights asked for and a hidden key")
def shows_weights_before_masking(seen: Pass) -> Array:
    """Returns the softmax of all the scores, the forbidden ones included."""
    return softmax_with_sink(seen.s, seen)


@wrong(
    "show",
    incident="I37",
    citation="facebookresearch/fairseq#3365",
    where="the weights asked for and H > 1 and (several scores or a mask of heads)",
)
def shows_the_mean_over_heads(seen: Pass) -> Array:
    """Returns the average over the heads to whoever asks for each of them."""
    mean = seen.a.sum(axis=1, keepdims=True) / max(seen.sizes.H, 1)
    return np.broadcast_to(mean, seen.a.shape)


@wrong("show", incident="I37", where="the weights asked for and N = M and M > 1")
def shows_weights_transposed(seen: Pass) -> Array:
    """Returns keys by queries, which nothing notices when N = M."""
    return seen.a.swapaxes(-1, -2) if seen.sizes.N == seen.sizes.M else seen.a


@wrong("show", incident="I37", where="the weights asked for and several scores")
def shows_weights_before_normalising(seen: Pass) -> Array:
    """Returns exp(s - max), as a kernel has it that divides the output at the end."""
    return powers(seen.s, seen.allowed)


@wrong("show", incident="I37", where="the weights asked for")
def shows_scores_for_weights(seen: Pass) -> Array:
    """Returns the scores, which a heat map shows just as well."""
    return np.where(seen.allowed, seen.s, 0)


@wrong(
    "show",
    incident="I01",
    citation="pytorch/pytorch#160064",
    where="the weights asked for and (an idle query or a query that sees a sink alone)",
)
def shows_nan_for_idle_queries(seen: Pass) -> Array:
    """Takes another path when the weights are asked for, and guards only the first."""
    return np.where(seen.allowed.any(axis=-1, keepdims=True), seen.a, np.nan)


# Log-sum-exp


@wrong(
    "measure",
    incident="I18",
    citation="sgl-project/sglang#40903",
    convention=("lse base", "2"),
    where="the log-sum-exp asked for",
)
def measures_lse_in_base_two(seen: Pass) -> Array:
    """Returns log2 of the sum, which its kernel works with, as if it were the natural one."""
    return steps.measure(seen) * np.log2(np.e)


@wrong("measure", incident="I18", where="the log-sum-exp asked for")
def forgets_the_maximum_in_lse(seen: Pass) -> Array:
    """Returns the logarithm of the sum of exp(s - max), and does not add the maximum back."""
    return exponentials.with_sink(np.log(powers(seen.s, seen.allowed).sum(axis=-1)), seen)


@wrong("measure", incident="I18", where="the log-sum-exp asked for")
def measures_lse_of_unscaled_scores(seen: Pass) -> Array:
    """Takes the maximum of the raw products, and adds it back unscaled."""
    raw = seen.q @ seen.k.swapaxes(-1, -2)
    top_raw = exponentials.top(exponentials.forbid(raw, seen.allowed))
    top_s = exponentials.top(exponentials.forbid(seen.s, seen.allowed))
    return steps.measure(seen) - (top_s - top_raw)[..., 0]


@wrong("measure", incident="I18", where="the log-sum-exp asked for and a hidden key")
def measures_lse_before_masking(seen: Pass) -> Array:
    """Sums over every key, the forbidden ones included."""
    return exponentials.with_sink(exponentials.log_sum(seen.s), seen)


@wrong("measure", incident="I18", where="the log-sum-exp asked for and finite biases")
def measures_lse_without_the_bias(seen: Pass) -> Array:
    """Leaves the bias out of the log-sum-exp, as if it were part of the mask."""
    return exponentials.with_sink(
        exponentials.log_sum(exponentials.forbid(seen.s - seen.bias, seen.allowed)), seen
    )


@wrong("measure", incident="I18", where="the log-sum-exp asked for and M > 1")
def measures_the_log_of_the_mean(seen: Pass) -> Array:
    """Divides the sum by the number of keys before it takes the logarithm."""
    return steps.measure(seen) - np.log(max(seen.sizes.M, 1))


@wrong(
    "measure",
    incident="I18",
    where="the log-sum-exp asked for and (an idle query or a query that sees a sink alone)",
)
def measures_zero_for_idle_queries(seen: Pass) -> Array:
    """Returns 0 for an idle query, which is the log-sum-exp of one key with score 0."""
    return np.where(seen.allowed.any(axis=-1), steps.measure(seen), 0)


@wrong(
    "measure",
    incident="plausible",
    convention=("lse idle", "+inf"),
    where="the log-sum-exp asked for and an idle query",
)
def measures_infinity_for_idle_queries(seen: Pass) -> Array:
    """Returns inf for an idle query, whose weights exp(s - lse) are zero without a branch."""
    lse = steps.measure(seen)
    return np.where(np.isneginf(lse), np.inf, lse)


# The output in training


@wrong(
    "scale",
    incident="plausible",
    spoils="training",
    where="the output as training computes it asked for and several scores",
)
def forgets_the_scale_in_training(sizes: Sizes, asked: float | None) -> float:  # noqa: ARG001
    """Has a fused kernel for inference that scales, and a path for training that does not."""
    return 1.0


@wrong(
    "combine",
    incident="plausible",
    spoils="training",
    where="the output as training computes it asked for",
)
def rounds_the_output_to_bfloat16_in_training(a: Array, v: Array, allowed: Array) -> Array:
    """Leaves mixed precision on wherever gradients are recorded."""
    return shortened(steps.combine(a, v, allowed), BFLOAT16)
