"""Known bugs in the merged log-sum-exp, which also spoil the next merge of that state."""

import numpy as np

from spec.merging.mistakes import steps
from spec.merging.mistakes.making import wrong
from spec.merging.mistakes.steps import Sums
from spec.notation import Array

SENTINEL = -5e4


@wrong(
    "measure",
    incident="BUG-18",
    where="two nonempty states or an empty first state with a nonempty one",
)
def returns_the_first(sums: Sums) -> Array:
    """Returns the first log-sum-exp unchanged, and merges the outputs only."""
    return sums.l_1


@wrong("measure", incident="BUG-18", where="two nonempty states")
def returns_the_larger(sums: Sums) -> Array:
    """Returns the larger log-sum-exp instead of log(exp lse_1 + exp lse_2)."""
    return np.maximum(sums.l_1, sums.l_2)


@wrong("measure", incident="plausible", where="a nonempty state")
def adds_the_log_sum_exps(sums: Sums) -> Array:
    """Adds the two log-sum-exps, where it should add their exponentials."""
    return sums.l_1 + sums.l_2


@wrong("measure", incident="BUG-18", where="a nonempty state")
def forgets_the_maximum_in_the_sum(sums: Sums) -> Array:
    """Returns the log of the sum of exp(lse_i - max) without adding the maximum back."""
    return np.log(sums.total)


@wrong("measure", incident="BUG-18", where="a nonempty state")
def measures_the_mean(sums: Sums) -> Array:
    """Returns the logarithm of the mean of the two exponentials, too small by log 2."""
    return steps.measure(sums) - np.log(2)


@wrong("measure", incident="BUG-18", where="two nonempty states")
def measures_in_base_two(sums: Sums) -> Array:
    """Adds the base-2 logarithm of the sum to a maximum in natural units."""
    return sums.top + np.log2(sums.total)


@wrong("measure", incident="plausible", where="a nonempty state")
def rounds_the_log_sum_exp_to_bfloat16(sums: Sums) -> Array:
    """Truncates the log-sum-exp to bfloat16."""
    lse = steps.measure(sums).astype(np.float32)
    kept = (lse.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    return np.where(np.isinf(lse), lse, kept)


@wrong(
    "measure",
    incident="BUG-18",
    citation="flashinfer-ai/flashinfer#4452",
    where="two empty states or log-sum-exps below -30000",
)
def keeps_a_number_for_nothing(sums: Sums) -> Array:
    """Returns -50000 instead of any lower log-sum-exp, even of -inf for two empty states."""
    return np.maximum(steps.measure(sums), SENTINEL)


@wrong(
    "measure",
    incident="BUG-18",
    citation="vllm-project/vllm#15492",
    convention=("fully-masked-lse", "+inf"),
    where="two empty states",
)
def returns_infinity_for_nothing(sums: Sums) -> Array:
    """Returns +inf instead of -inf as the log-sum-exp of two empty states."""
    lse = steps.measure(sums)
    return np.where(np.isneginf(lse), np.inf, lse)


@wrong(
    "measure",
    incident="BUG-18",
    citation="sgl-project/sgl-kernel-xpu#487",
    where="an empty second state with a nonempty one",
)
def overwrites_by_an_idle_split(sums: Sums) -> Array:
    """Returns -inf as the log-sum-exp if the second state is empty, whatever the first one is."""
    return np.where(np.isneginf(sums.l_2), -np.inf, steps.measure(sums))
